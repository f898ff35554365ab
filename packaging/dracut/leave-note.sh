#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Copies the image's note to /run, where the agent reads it (probes/initramfs.hpp), and hands the adapters over to the system.
# Sourced by dracut.
cp /usr/lib/pvrdma-agent/initramfs-note /run/pvrdma-agent.initramfs
/usr/lib/pvrdma-agent/initramfs-adapters hand-over "${NEWROOT:-/sysroot}"
