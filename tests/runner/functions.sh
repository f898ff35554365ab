# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for the commands of tasks (tasks.py).
# shellcheck shell=bash

# With these settings ccache does not compile a file again that was compiled in another clone.
export CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=locale
# Several files compiled as one take a third of the time. Packages for users are compiled file by file, which proves that each
# file has its includes (tests/run --soak checks that too).
quick=(--unity=on --unity-size=60 -Ddebug=false -Dwerror=true)

# Configures a build directory of the present tree with these options. A directory with other options, or one that meson cannot
# use any more, is made anew.
configured() { # DIRECTORY OPTION...
  local directory=$1 found with
  shift
  with="${CC:-} ${CXX:-} ${CC_LD:-} ${CXX_LD:-} ${CPPFLAGS:-} $*"
  if [[ $(cat "$directory/made-with" 2>/dev/null) != "$with" ]] || ! ninja -C "$directory" build.ninja; then
    mkdir -p "$directory"
    find "$directory" -mindepth 1 -delete
    meson setup "$directory" "$@" || return
  fi
  # The paths in files that are compiled as one are made relative to the build directory, so that the compiler cache
  # recognises these files in every clone.
  found="<$(realpath "$directory")/"
  find "$directory" -name '*-unity*.cpp' -exec grep -q "$found" {} \; -exec sed -i "s|$found|<|" {} \;
  echo "$with" >"$directory/made-with"
}

# For the unit tests, clang-tidy and checks that ask the programs for their help. Clang without optimization compiles
# instrumented code in a third of GCC's time; the packages are compiled with GCC's warnings. -Wno-c99-extensions is for macros
# of libsystemd, which are compound literals of C. Most of the sanitizers' checks are for null and misaligned pointers. With
# -fsanitize-trap such a check is one instruction, not a call that describes the place; ASan prints the stack. Sections for functions
# and data make programs smaller, but the compiler slower.
configure_unit() {
  # meson does not add ccache by itself to a compiler that is named. lld links instrumented code in a fifth of the time.
  CC="ccache clang" CXX="ccache clang++" CC_LD=lld CXX_LD=lld configured build/unit "${quick[@]}" -Doptimization=0 -Db_sanitize=address,undefined -Db_lundef=false \
    "-Dcpp_args=-fno-sanitize-recover=all -fsanitize-trap=null,alignment -fno-function-sections -fno-data-sections -Wno-c99-extensions -Wreserved-identifier"
}
# Clang uses gigabytes of memory, and is a tenth faster with huge pages, which some systems give only on request.
huge_pages=glibc.malloc.hugetlb=1
build_sanitized() { configure_unit && GLIBC_TUNABLES=$huge_pages ninja -j "$(nproc)" -C build/unit; }

# The fuzz targets, with all code compiled for libFuzzer.
build_fuzz() {
  CC="ccache clang" CXX="ccache clang++" CC_LD=lld CXX_LD=lld configured build/fuzz "${quick[@]}" -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false \
    "-Dcpp_args=-fno-sanitize-recover=all -Wno-c99-extensions -fsanitize=fuzzer-no-link -D_GLIBCXX_ASSERTIONS" &&
    GLIBC_TUNABLES=$huge_pages ninja -j "$(nproc)" -C build/fuzz tests/fuzz/fuzz
}
# libFuzzer writes an input that does harm beside the new inputs, as crash-…, leak-… or timeout-…. Put it into
# tests/fuzz/corpus with a name that describes it.
# libarchive asks for as much memory as an entry's name is said to have, up to 4 GiB; initramfs-content has a limit of its own.
fuzz() { # TARGET SECONDS
  local found=build/fuzz/found/$1
  mkdir -p "$found/inputs"
  PVRDMA_FUZZ=$1 ASAN_OPTIONS=detect_leaks=1 build/fuzz/tests/fuzz/fuzz -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=5120 -max_len=65536 \
    -artifact_prefix="$found/" -print_final_stats=1 "$found/inputs" "tests/fuzz/corpus/$1"
}

in_chroot() { # SUITE KIND DIRECTORY COMMAND...
  mkdir -p "$3"
  tests/lab/chroot --suite "$1" --kind "$2" "${@:3}"
}
# Compiles everything with a version of GCC: at level 0 without optimization, at level s like the packages. In newer versions of meson
# the target "all" does not contain the tests. GCC frees memory (ggc) only after it has used 1 GB, which saves a tenth of the time.
compile_with() { # SUITE KIND DIRECTORY VERSION LEVEL...
  # shellcheck disable=SC2016  # the inner shell expands these
  in_chroot "$1" "$2" "$3" bash -euc "$(declare -f configured)"'
    version=$1 levels=$2
    shift 2
    for level in $levels; do
      CC="ccache gcc-$version" CXX="ccache g++-$version" CPPFLAGS=$([ $level = 0 ] || echo -D_FORTIFY_SOURCE=2) \
        configured $level /tree "$@" -Doptimization=$level "-Dcpp_args=-Wno-subobject-linkage --param=ggc-min-heapsize=1000000"
      ninja -j "$(nproc)" -C $level all meson-test-prereq
    done' bash "$4" "${*:5}" "${quick[@]}"
}
# Debian 13's compiler and libraries. --soak compiles at level s too.
build_trixie() { compile_with trixie check build/trixie 14 0; }

compiler() { # SUITE KIND VERSION: compiles at both levels, and runs the unit tests
  local directory=build/gcc-$3
  rm -rf "$directory"
  compile_with "$1" "$2" "$directory" "$3" 0 s && unit_tests "$directory/0" /build/0 in_chroot "$1" "$2" "$directory"
}

unit_tests() { # DIRECTORY [SEEN COMMAND...]: runs meson by this command, which sees the directory as SEEN
  local directory=$1 seen=${2:-$1}
  shift "$(($# > 1 ? 2 : 1))"
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:handle_sigill=2 UBSAN_OPTIONS=print_stacktrace=1
  # The log of an earlier run must not be counted if this run cannot be built.
  rm -f "$directory/meson-logs/testlog.json"
  "$@" meson test -C "$seen" --print-errorlogs | grep -vE '^(ninja|\[[0-9]+/[0-9]+\])'
  local status=${PIPESTATUS[0]}
  # A program that meson could not build or run is in no count.
  tests/check/count-unit-tests "$directory" && return "$status"
}

lintian_clean() { # SUITE
  in_chroot "$1" check build/packages/portable sh -c 'lintian --allow-root --fail-on error,warning ./*.changes' &&
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
