# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/lab/demo: sets up the lab and boots a guest in which the agent takes a port to ACTIVE; prints each step."""

import argparse
import subprocess
import sys

from . import host, image, paths, payload, scenario as scenarios
from .errors import LabError
from .lab import Lab, add_options
from .suites import SUITES


def parse_arguments(argv):
    parser = argparse.ArgumentParser(
        prog="tests/lab/demo",
        description="Set up the lab, build the agent's package if there is none, boot a guest with an emulated PVRDMA "
                    "adapter and show what the agent does. Needs root; the first time takes some minutes, later ones "
                    "less than one.")
    add_options(parser)
    return parser.parse_args(argv)


def build_packages(suite):
    """Builds the package while the guest's image is made: both take a minute or two."""
    print("lab: building the agent's package", flush=True)
    argv = ["build-deb", "--portable"] if suite.form == "deb" else ["build-rpm"]
    with subprocess.Popen([paths.ROOT / "packaging" / argv[0], *argv[1:], "--for-tests"]) as build:
        image.base(suite).release()
        if build.wait():
            raise LabError(f"building the agent's package with packaging/{argv[0]} failed (see above)")


def main(argv):
    options = parse_arguments(argv)
    suite = SUITES[options.suite]
    if options.packages == paths.PACKAGES and not payload.find_packages(options.packages, suite, required=False)[f"{suite.form}s"]:
        host.setup()
        build_packages(suite)
    scenario = scenarios.load(paths.GUEST / "demo.sh")
    lab = Lab(options, [scenario])
    plain = not sys.stdout.isatty()

    def show(data):
        if plain:
            data = data.replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b"")
        sys.stdout.buffer.write(data)
        sys.stdout.flush()

    guest = lab.guest(scenario, on_output=show)
    try:
        print("lab: booting a guest on an emulated CPU", flush=True)
        status = guest.run().status
    finally:
        guest.close()
    if status == 0:
        print("\nTo work in such a guest: sudo tests/lab/shell. All the scenarios: sudo tests/lab/run.")
    return status
