# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: guests with emulated PVRDMA adapters, booted by QEMU, in which the agent is tested.

From the bottom up:  paths, errors, cache, suites, host  →  debootstrap  →  image, chroot, distribution, standin  →  qmp, mad, mux,
machine  →  scenario  →  faults, fabric, payload  →  boot, company  →  guest  →  archive, previous, install, snapshot, accel  →  lab  →
the commands (cmd_*). throwaway stands alone, for tests/check.
"""
