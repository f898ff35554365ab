"""Unpacking a suite with mmdebstrap, from the mirrors that this machine itself uses."""

import subprocess
import sys
from pathlib import Path

from . import host
from .errors import LabError


RETRIES = 'Acquire::Retries "5"'  # of apt, for a mirror that stumbles


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def unpack(suite, packages, target, log, *options):
    """`suite` with these packages and what they depend on; raises LabError with the tail of the log."""
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(["mmdebstrap", "--mode=root", "--dpkgopt=force-unsafe-io",
                               f"--aptopt={RETRIES}",
                               "--include=" + ",".join(packages), *options, suite, str(target), "-"],
                              input=host.sources(suite), text=True, stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        tail = "\n".join(Path(log).read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        raise LabError(f"unpacking {suite} with mmdebstrap failed with status {done.returncode}\n{tail}")
    # mmdebstrap writes its options into the target, whose dpkg and apt are to have the distribution's own configuration.
    for name in ("etc/dpkg/dpkg.cfg.d/99mmdebstrap", "etc/apt/apt.conf.d/99mmdebstrap"):
        (target / name).unlink(missing_ok=True)
