# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m labkit COMMAND …: behind tests/lab/run, demo and shell."""

import importlib
import os
import signal
import sys

from . import boot
from .errors import LabError


def terminated(*_):
    """Ctrl-C reaches every QEMU by itself, SIGTERM only us."""
    for process in list(boot.running):
        process.kill()
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
