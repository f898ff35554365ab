# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/lab/shell: boots a guest for experiments, with its serial console on this terminal."""

import argparse
import sys
import tempfile
import termios
from pathlib import Path

from . import scenario as scenarios
from .lab import Lab, add_options

EPILOG = """\
Leave with Ctrl-A x. In the guest `host` requests faults: host port 0 DOWN, host link 0 down, host reset, …
The disk is thrown away at the end; a reboot keeps it.
"""
NOTHING = "# summary: a guest for experiments\nscenario() { :; }\n"


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="tests/lab/shell", epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Boot a guest with PVRDMA adapters and log in to it.")
    add_options(parser)
    parser.add_argument("--adapters", metavar="N", type=int, choices=range(scenarios.MAX_ADAPTERS + 1),
                        help="PVRDMA adapters, 0 to 4 (default: 1, or the scenario's)")
    parser.add_argument("--scenario", metavar="NAME",
                        help="boot the guest of this scenario, with its early part done; run the rest by hand: "
                             "bash /run/lab/phase scenario")
    parser.add_argument("--install", choices=("yes", "none", "manual"), help="the agent: installed (default) or not")
    return parser.parse_args(argv)


def chosen(options, directory):
    if options.scenario:
        scenario = scenarios.load(options.scenario)
    else:
        path = Path(directory) / "shell.sh"
        path.write_text(NOTHING, encoding="utf-8")
        scenario = scenarios.load(path)
    scenario.boots = sys.maxsize
    scenario.clones = 0
    scenario.start = "boot"
    if options.adapters is not None:
        scenario.adapters = options.adapters
    if options.install is not None:
        scenario.install = options.install
    return scenario


def main(argv):
    options = parse_arguments(argv)
    terminal = termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
    with tempfile.TemporaryDirectory() as directory:
        scenario = chosen(options, directory)
        guest = Lab(options, [scenario]).guest(scenario, "shell")
        try:
            print("lab: booting; leave with Ctrl-A x", flush=True)
            return guest.run().status
        finally:
            guest.close()
            if terminal:
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, terminal)
