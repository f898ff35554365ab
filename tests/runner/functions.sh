# What the tasks' commands (tasks.py) call.
# shellcheck shell=bash

# meson uses ccache; what was compiled in one clone need not be compiled again in another.
export CCACHE_NOHASHDIR=1
# Several files compiled as one, for a third of the time. Packages for users are compiled file by file, so that each has
# all that it includes (tests/run --soak looks at that too).
quick=(--unity=on --unity-size=12 -Ddebug=false -Dwerror=true)
# GCC 14 takes a type of an unnamed namespace, in what is compiled as one, for another file's.
trixie_options=("${quick[@]}" -Doptimization=1 -Dcpp_args=-Wno-subobject-linkage)

# A build directory of the tree we are in, with these options; made anew where it has others, or meson cannot go on with
# it. Also runs in a chroot, where the directory is a mount.
configured() { # DIRECTORY OPTION...
  local directory=$1
  shift
  if [[ $(cat "$directory/made-with" 2>/dev/null) == "$*" ]] && ninja -C "$directory" build.ninja; then return; fi
  mkdir -p "$directory"
  find "$directory" -mindepth 1 -delete
  meson setup "$directory" "$@" || return
  # Files that are compiled as one are named by what is the same in every clone, so that a compiler cache knows them.
  find "$directory" -name '*-unity*.cpp' -exec sed -i "s|<$(realpath "$directory")/|<|" {} +
  echo "$*" >"$directory/made-with"
}

# For the unit tests, clang-tidy and what asks the programs for their help. Clang, not optimizing, compiles instrumented
# code in a third of GCC's time; GCC's warnings are the packages'. Macros of libsystemd are C's compound literals.
configure_unit() {
  # Where the compiler is named, meson uses ccache only if that is named too.
  CC="ccache clang" CXX="ccache clang++" configured build/unit "${quick[@]}" -Doptimization=0 -Db_sanitize=address,undefined -Db_lundef=false \
    "-Dcpp_args=-fno-sanitize-recover=all -Wno-c99-extensions"
}
build_sanitized() { configure_unit && ninja -C build/unit; }

in_chroot() { # SUITE KIND DIRECTORY COMMAND...
  mkdir -p "$3"
  tests/lab/chroot --suite "$1" --kind "$2" "${@:3}"
}
build_trixie() {
  in_chroot trixie check build/trixie bash -c "$(declare -f configured)
    cd /tree && configured /build \"\$@\" && ninja -C /build" bash "${trixie_options[@]}"
}

unit_tests() { # DIRECTORY [COMMAND...]: runs meson with this command, to which the directory is /build
  local directory=$1 seen=$1
  shift
  (($# == 0)) || seen=/build
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
  # Whatever an earlier run left must not be counted where this one cannot even be built.
  rm -f "$directory/meson-logs/testlog.json"
  "$@" meson test -C "$seen" --print-errorlogs | grep -vE '^(ninja|\[[0-9]+/[0-9]+\])'
  tests/check/count-unit-tests "$directory"
}

lintian_clean() { # SUITE
  in_chroot "$1" check "build/packages/$1" sh -c 'lintian --allow-root --fail-on error,warning ./*.changes' &&
    echo "no error, no warning"
}

demo_shows_ready() {
  local shown=build/tests/demo.out
  if tests/lab/demo >"$shown" 2>&1 && grep -q 'PORT_DOWN$' "$shown" && grep -q 'PORT_ACTIVE$' "$shown" &&
    grep -q '^READY  1 of 1 adapters' "$shown"; then
    echo "from PORT_DOWN to PORT_ACTIVE, and health says READY"
  else
    cat "$shown"
    return 1
  fi
}
