"""What every command starts with: the lab's pieces (image, stand-in, packages) and a guest made of them."""

from pathlib import Path

from . import host, image, install, paths, payload, standin
from .guest import Guest
from .suites import DEFAULT, SUITES


def add_options(parser):
    parser.add_argument("--suite", default=DEFAULT, choices=sorted(SUITES),
                        help="the guest's distribution (default: %(default)s)")
    parser.add_argument("--deb", metavar="DIR", type=Path, default=paths.PACKAGES,
                        help="where the agent's packages are (default: build/packages)")


class Lab:
    def __init__(self, options):
        host.setup()
        self._packages = options.deb
        self._image = image.base(SUITES[options.suite])
        self._standin = standin.library()

    def guest(self, scenario, mode="run", on_output=None):
        """A guest ready to run: with the agent installed, unless the scenario wants it otherwise."""
        debs = payload.find_packages(self._packages, required=scenario.install != "none")
        disk = self._image / "disk.raw"
        if scenario.install == "yes":
            disk = install.installed(self._image, debs, self._standin) / "disk.qcow2"
        return Guest(scenario, self._image, disk, self._standin, debs, mode, on_output)
