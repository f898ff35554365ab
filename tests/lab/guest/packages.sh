# SPDX-License-Identifier: GPL-2.0-or-later
# State that package management must not change, and files that it must not leave: for the scenarios package and rpm.
# shellcheck shell=bash

# Modules, the driver's own load (its inode), links and addresses.
kernel_state() {
  awk '{ print $1 }' /proc/modules | sort
  stat -c %i /sys/module/vmw_pvrdma
  ip -o -br link show
  ip -o addr show | sed 's/valid_lft.*//'
}
# Prints every path except these and those of package management, logging and tests; and the agent's paths in /run.
paths_without() { # PATTERN…
  local pattern pruned=()
  for pattern in "$@" /var/log /var/cache /var/lib/systemd /tmp /var/tmp /proc /sys /run/lab; do
    pruned+=(-o -path "$pattern")
  done
  find / -xdev \( "${pruned[@]:1}" \) -prune -o -print | sort
  find /run -xdev -path /run/udev -prune -o -path '*pvrdma*' -print
}
integrations_have_gone() { # two of these units ran: no process, socket or file is left
  expect "removed: nothing answers systemd-report" gone /run/systemd/report/io.pvrdma.Agent
  expect "removed: no file of metrics is left" gone /run/pvrdma-agent-metrics
  expect_not "removed: no service of metrics runs" pgrep -f 'pvrdma-agentctl metrics'
}
