# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that runs the lab: its packages (tests/lab/setup), its package mirror, and how long it lets a guest wait."""

import contextlib
import fcntl
import os
import subprocess
from pathlib import Path

from . import paths
from .errors import LabError, run


def setup(*options):
    """Installs missing packages; returns at once if there are none. Prints to standard output, like apt."""
    if subprocess.run([paths.LAB / "setup", *options], check=False).returncode:
        raise LabError("installing the lab's packages failed (see above)")


def need_root(what):
    if os.geteuid() != 0:
        raise LabError(f"{what} needs root: use sudo")


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")


def qemu_version():
    return run("asking QEMU", ["qemu-system-x86_64", "--version"])


def tasks_at_a_time():
    """The number of tasks to run at a time: more than there are CPUs, as some wait for the network, the disk or a guest's timer."""
    return os.cpu_count() + 3


def memory_available():
    """The free memory in bytes."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


# Releases still in the making, of which a mirror may hold an old copy: apt takes it whatever its date, if its signature is good.
UNDATED = ("forky",)
# Releases whose support has ended: the archive of their security updates lacks files of its own index.
ENDED = ("bullseye",)


def _repositories():
    """{label: repository} of this machine's apt, e.g. of the labels Debian and Debian-Security."""
    listed = run("reading this machine's package mirror",
                 ["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"])
    found = {}
    for line in listed.splitlines():
        label, _, uri = line.partition(" ")
        found.setdefault(label, uri)
    return found


def sources(suite):
    """sources.list lines for a suite, on the mirrors that this machine itself uses."""
    found = _repositories()
    if "Debian" not in found:  # A machine whose lists were never fetched knows no labels yet.
        (paths.CACHE / "locks").mkdir(parents=True, exist_ok=True)
        with open(paths.CACHE / "locks" / "apt-lists", "a", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # apt itself does not wait for another update
            run("fetching apt's lists", ["apt-get", "-o", "Acquire::Retries=5", "update", "-qq"])
        found = _repositories()
    if "Debian" not in found:
        raise LabError("this machine's apt has no repository labelled Debian to build a guest from")
    option = "[check-valid-until=no] " if suite in UNDATED else ""
    wanted = [(found["Debian"], suite), (found["Debian"], f"{suite}-updates")]
    if "Debian-Security" in found and suite not in ENDED:
        wanted.append((found["Debian-Security"], f"{suite}-security"))
    return "".join(f"deb {option}{uri} {name} main\n" for uri, name in wanted)


def waited(thread):
    """Seconds for which a thread, by its folder in /proc, waited for a CPU (proc(5): schedstat)."""
    return int((thread / "schedstat").read_text(encoding="ascii").split()[1]) / 1e9


def delayed(pid):
    """Seconds for which a virtual CPU of this QEMU waited for a CPU of the host; no limit counts them."""
    longest = 0.0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            if (task / "comm").read_text(encoding="ascii").startswith(("CPU ", "ALL CPUs")):
                longest = max(longest, waited(task))
    return longest
