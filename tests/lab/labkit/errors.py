# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception of the lab, and running a command so that its failure explains itself."""

import subprocess
from pathlib import Path


class LabError(Exception):
    """Something the lab could not do: says what was being done, to what. Printed without a traceback."""


def run(doing, argv, log=None, **kwargs):
    """Run argv to its end; on failure raise LabError(doing, the tail of what it printed)."""
    done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **kwargs)
    if log:
        with open(Path(log), "a", encoding="utf-8") as out:
            out.write(done.stdout)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-30:])
        raise LabError(f"{doing}: {argv[0]} ended with status {done.returncode}\n{tail}")
    return done.stdout
