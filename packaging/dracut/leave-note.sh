#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Leaves the image's note where the agent finds it (probes/initramfs.hpp), and the adapters to whom they belong from now on.
# Sourced by dracut.
cp /usr/lib/pvrdma-agent/initramfs-note /run/pvrdma-agent.initramfs
/usr/lib/pvrdma-agent/initramfs-adapters hand-over "${NEWROOT:-/sysroot}"
