# SPDX-License-Identifier: GPL-2.0-or-later
"""How long processes have waited for CPUs that other processes had."""

import contextlib
import os
from pathlib import Path

from labkit import host


def waited(pid):
    """Seconds for which the threads of this process, and of its children, waited for a CPU, all together."""
    seconds = 0.0
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # a thread may just have ended
            seconds += host.waited(thread)
            for child in (thread / "children").read_text(encoding="ascii").split():
                seconds += waited(child)
    return seconds


def stolen():
    """Seconds for which the CPUs of this machine, if it is virtual, waited for real ones (proc(5): /proc/stat, steal)."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")
