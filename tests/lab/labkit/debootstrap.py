"""Unpacking a suite with mmdebstrap, from the mirrors that this machine itself uses."""

import subprocess
import sys
from pathlib import Path

from . import host
from .errors import LabError


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def unpack(suite, packages, target, log, *options):
    """`suite` with these packages and what they depend on; raises LabError with the tail of the log."""
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(["mmdebstrap", "--mode=root", "--dpkgopt=force-unsafe-io",
                               "--include=" + ",".join(packages), *options, suite, str(target), "-"],
                              input=host.sources(suite), text=True, stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        tail = "\n".join(Path(log).read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        raise LabError(f"unpacking {suite} with mmdebstrap failed with status {done.returncode}\n{tail}")
    # mmdebstrap writes its --dpkgopt into the target, whose dpkg is to have the distribution's own configuration.
    (target / "etc/dpkg/dpkg.cfg.d/99mmdebstrap").unlink(missing_ok=True)
