# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by build-deb and build-rpm: lists the files from which packages are made.
# shellcheck shell=bash

# Prints the paths in the tree, NUL-terminated, as on disk and without the tests. A file that was removed on disk but not
# yet from the index is left out.
package_files() { # TREE
  local path
  {
    if git -c safe.directory="$1" -C "$1" rev-parse --is-inside-work-tree &>/dev/null; then
      git -c safe.directory="$1" -C "$1" ls-files -z --cached --others --exclude-standard
    else
      (cd "$1" && find . -path ./build -prune -o -type f -printf '%P\0')
    fi | grep -zvE '^(tests|\.ci)/'
    printf 'tests/meson.build\0'
  } | LC_ALL=C sort -zu | while IFS= read -r -d '' path; do
    if [[ -f $1/$path ]]; then printf '%s\0' "$path"; fi
  done
}

version_of() { # TREE
  sed -n "s/^ *version: '\(.*\)',$/\1/p" "$1/meson.build" | head -n 1
}

# Prints a tar file of the tree. The same tree always gives the same bytes, so their hash shows whether a file has changed.
pack_tree() { # TREE
  package_files "$1" | tar -C "$1" --null -T - --transform "s,^,pvrdma-agent-$(version_of "$1")/," --mtime=@0 --owner=0 --group=0 \
    --numeric-owner --mode=go=u-w -c
}
