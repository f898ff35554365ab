# SPDX-License-Identifier: GPL-2.0-or-later
# What the tasks' commands (tasks.py) call.
# shellcheck shell=bash

# meson uses ccache; what was compiled in one clone need not be compiled again in another.
export CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=locale
# Several files compiled as one, for a third of the time. Packages for users are compiled file by file, so that each has
# all that it includes (tests/run --soak looks at that too).
quick=(--unity=on --unity-size=60 -Ddebug=false -Dwerror=true)

# A build directory of the tree we are in, with these options; made anew where it has others, or meson cannot go on with
# it.
configured() { # DIRECTORY OPTION...
  local directory=$1 found
  shift
  if [[ $(cat "$directory/made-with" 2>/dev/null) != "$*" ]] || ! ninja -C "$directory" build.ninja; then
    mkdir -p "$directory"
    find "$directory" -mindepth 1 -delete
    meson setup "$directory" "$@" || return
  fi
  # Files that are compiled as one are named by what is the same in every clone, so that a compiler cache knows them.
  found="<$(realpath "$directory")/"
  find "$directory" -name '*-unity*.cpp' -exec grep -q "$found" {} \; -exec sed -i "s|$found|<|" {} \;
  echo "$*" >"$directory/made-with"
}

# For the unit tests, clang-tidy and what asks the programs for their help. Clang, not optimizing, compiles instrumented
# code in a third of GCC's time; GCC's warnings are the packages'. Macros of libsystemd are C's compound literals.
configure_unit() {
  # Where the compiler is named, meson uses ccache only if that is named too.
  # lld links what is instrumented in a fifth of the time.
  CC="ccache clang" CXX="ccache clang++" CC_LD=lld CXX_LD=lld configured build/unit "${quick[@]}" -Doptimization=0 -Db_sanitize=address,undefined -Db_lundef=false \
    "-Dcpp_args=-fno-sanitize-recover=all -Wno-c99-extensions -Wreserved-identifier"
}
# Clang takes its memory by the gigabyte, and is a tenth faster in huge pages, which some systems give on request only.
huge_pages=glibc.malloc.hugetlb=1
build_sanitized() { configure_unit && GLIBC_TUNABLES=$huge_pages ninja -j "$(nproc)" -C build/unit; }

# The fuzz targets for libFuzzer: all is compiled for it.
build_fuzz() {
  CC="ccache clang" CXX="ccache clang++" CC_LD=lld CXX_LD=lld configured build/fuzz "${quick[@]}" -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false \
    "-Dcpp_args=-fno-sanitize-recover=all -Wno-c99-extensions -fsanitize=fuzzer-no-link -D_GLIBCXX_ASSERTIONS" &&
    GLIBC_TUNABLES=$huge_pages ninja -j "$(nproc)" -C build/fuzz tests/fuzz/fuzz
}
# What is found lies beside the new inputs as crash-…, leak-… or timeout-…: it belongs into tests/fuzz/corpus with a name
# that says what it is.
fuzz() { # TARGET SECONDS
  local found=build/fuzz/found/$1
  mkdir -p "$found/inputs"
  PVRDMA_FUZZ=$1 ASAN_OPTIONS=detect_leaks=1 build/fuzz/tests/fuzz/fuzz -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix="$found/" -print_final_stats=1 "$found/inputs" "tests/fuzz/corpus/$1"
}

in_chroot() { # SUITE KIND DIRECTORY COMMAND...
  mkdir -p "$3"
  tests/lab/chroot --suite "$1" --kind "$2" "${@:3}"
}
# The unit tests with Debian 13's compiler and libraries. The program is compiled as its package is (build-deb --for-tests), with
# the same flags and names of folders, so that the compiler's cache has it from there.
build_trixie() {
  in_chroot trixie check build/trixie sh -ec '
    mkdir -p tree
    ln -sfn /tree/* tree
    cp -RT /tree/packaging/debian tree/debian
    cd tree
    DEB_BUILD_OPTIONS=pvrdma_tests debian/rules override_dh_auto_configure
    ln -sfn tree/"$(echo obj-*)" ../meson
    # Newer versions of meson do not count tests among all.
    exec ninja -j "$(nproc)" -C ../meson all meson-test-prereq'
}

unit_tests() { # DIRECTORY [SEEN COMMAND...]: runs meson by this command, which sees the directory as SEEN
  local directory=$1 seen=${2:-$1}
  shift "$(($# > 1 ? 2 : 1))"
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
