# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m labkit COMMAND …: tests/lab/run, demo and shell call this."""

import importlib
import os
import shutil
import signal
import sys

from . import boot, guest
from .errors import LabError


def terminated(*_):
    """Ends each QEMU on SIGTERM, which reaches only this process; Ctrl-C reaches them all. Removes the guests' directories."""
    for process in list(boot.running):
        process.kill()
    for directory in list(guest.directories) if "--keep" not in sys.argv else ():
        shutil.rmtree(directory, ignore_errors=True)
    os._exit(143)


def main():
    signal.signal(signal.SIGTERM, terminated)
    command = importlib.import_module(f".cmd_{sys.argv[1]}", __package__)
    try:
        return command.main(sys.argv[2:])
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


sys.exit(main())
