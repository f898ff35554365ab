# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scenarios that run the commands of a guide (packaging/guides), which are taken from the installed package.
# shellcheck shell=bash

sudo() { "$@"; } # a guest has none, and its scenario is root's
export -f sudo

# Runs the blocks of a page that open with ```sh run SCENARIO [PART]. The lab has its own names and addresses; a scenario may define
# further functions in place of programs, and export them.
follow_guide() { # PAGE SCENARIO [PART]
  local commands
  commands=$(awk -v "mark=\`\`\`sh run ${*:2}" '$0 == "```" { on = 0 } on { print } $0 == mark { on = 1 }' \
    "/usr/share/doc/pvrdma-agent/guides/$1.md" | sed 's/ens224f0/ens16f0/g; s/192\.168\.30\.202/192.168.30.2/g')
  [[ -n $commands ]] || die "the guide $1 has no commands for: ${*:2}"
  bash -euxo pipefail -c "$commands" || die "a command of the guide $1 failed"
}
