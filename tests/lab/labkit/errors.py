# SPDX-License-Identifier: GPL-2.0-or-later
"""The exception of the lab, and a function that runs a command and explains its failure."""

import subprocess
from pathlib import Path


class LabError(Exception):
    """An error of the lab: the message says what was being done, to what. It is printed without a traceback."""


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
