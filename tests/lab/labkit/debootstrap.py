# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks a suite with mmdebstrap, from the mirrors that this machine itself uses, and adds packages to a copy of it."""

import os
import subprocess
import sys
from pathlib import Path

from . import host
from .errors import LabError, run


RETRIES = 'Acquire::Retries "5"'  # for apt, as mirrors fail at times
INSTALL = """set -e
export DEBIAN_FRONTEND=noninteractive
apt-get -q -o Acquire::Retries=5 update
apt-get -q -y -o Acquire::Retries=5 -o Dpkg::Options::=--force-unsafe-io --no-install-recommends install "$@"
apt-get clean
find /var/lib/apt/lists -type f ! -name lock -delete
"""


# Debian 11 is installed with /bin, /sbin and /lib as links to /usr, which mmdebstrap by itself makes for later releases only.
MERGED_USR = {"bullseye": ["--setup-hook=/usr/share/mmdebstrap/hooks/merged-usr/setup00.sh"]}


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def unpack(suite, packages, target, log, *options, environment=()):
    """`suite` with these packages and what they depend on, whose scripts see this environment; raises LabError with the
    tail of the log."""
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(["mmdebstrap", "--mode=root", "--dpkgopt=force-unsafe-io",
                               f"--aptopt={RETRIES}",
                               "--include=" + ",".join(packages), *MERGED_USR.get(suite, ()), *options, suite, str(target), "-"],
                              input=host.sources(suite), text=True, stdout=out, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, **dict(environment)})
    if done.returncode:
        tail = "\n".join(Path(log).read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        raise LabError(f"unpacking {suite} with mmdebstrap failed with status {done.returncode}\n{tail}")
    # mmdebstrap writes its options into the target; they are removed, so that dpkg and apt have the distribution's configuration.
    for name in ("etc/dpkg/dpkg.cfg.d/99mmdebstrap", "etc/apt/apt.conf.d/99mmdebstrap"):
        (target / name).unlink(missing_ok=True)


def inside(doing, root, argv, log, *options):
    """Runs argv in a root, with /proc and with this machine's network; raises LabError with the tail of its output."""
    return run(doing, ["bwrap", "--die-with-parent", "--unshare-pid", "--cap-add", "ALL", "--bind", root, "/", "--dev", "/dev",
                       "--proc", "/proc", "--ro-bind", Path("/etc/resolv.conf").resolve(), "/etc/resolv.conf", *options,
                       "--setenv", "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "--setenv", "LC_ALL", "C.UTF-8", *argv], log=log)


def extend(root, packages, target, log):
    """Makes `target`, a copy of the unpacked root with further packages, in a third of the time of unpacking it anew."""
    run(f"copying {root}", ["cp", "-a", root, target])
    inside(f"installing {' '.join(packages)} in a copy of {root}", target, ["sh", "-c", INSTALL, "sh", *packages], log)
