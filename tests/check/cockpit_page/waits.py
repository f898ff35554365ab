# SPDX-License-Identifier: GPL-2.0-or-later
"""How long processes have waited for CPUs that others had."""

import contextlib
import os
from pathlib import Path

from labkit import boot


def waited(pid):
    """Seconds for which the threads of this process, and of those that it started, could have run; all together."""
    seconds = 0.0
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # one that has just ended
            seconds += boot.waited(thread)
            for child in (thread / "children").read_text(encoding="ascii").split():
                seconds += waited(child)
    return seconds


def stolen():
    """Seconds for which this machine's CPUs, if it is a virtual one, waited for a real one (proc(5): /proc/stat, steal)."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")
