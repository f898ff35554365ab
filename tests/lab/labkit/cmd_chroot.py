# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/lab/chroot: runs a command in a clean chroot of a suite, to build or to check packages."""

import argparse
from pathlib import Path

from . import chroot, host
from .suites import SUITES

RELEASES = sorted({suite.release for suite in SUITES.values()})


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        prog="tests/lab/chroot",
        description="Run a command as root in a clean chroot of a Debian suite, read-only and without network. "
                    "DIRECTORY is its /build, and may be written to; this tree is its /tree.")
    parser.add_argument("--suite", required=True, choices=RELEASES, help="of Debian; portable packages are built in %s" % chroot.PORTABLE)
    parser.add_argument("--kind", default="build", choices=sorted(chroot.ADDED),
                        help="build: build dependencies and ccache; check: also lintian and the packages of the unit tests; gcc-VERSION: also that compiler")
    parser.add_argument("directory", metavar="DIRECTORY", type=Path)
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    if not options.command:
        parser.error("no COMMAND")
    return options


def main(argv):
    options = parse_arguments(argv)
    host.need_root("a chroot")
    host.setup("--chroot")
    return chroot.run(options.suite, options.kind, options.directory.resolve(), options.command)
