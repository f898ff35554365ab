# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: guests with emulated PVRDMA adapters, booted by QEMU, in which the agent is tested.

From the bottom up:  paths, errors, cache, suites, host  →  image, standin  →  mux, qmp, machine  →  faults, payload,
scenario  →  boot, guest  →  install, snapshot, accel  →  lab  →  the commands (cmd_*).
"""
