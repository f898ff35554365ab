"""What every command starts with: the lab's pieces (image, stand-in, packages) and a guest made of them."""

from pathlib import Path

from . import archive, host, image, install, paths, payload, previous, standin
from .guest import Guest
from .suites import DEFAULT, SUITES


def add_options(parser):
    parser.add_argument("--suite", default=DEFAULT, choices=sorted(SUITES),
                        help="the guests' distribution, where a scenario names none: Debian 12 or 13 (default: %(default)s)")
    parser.add_argument("--packages", metavar="DIR", type=Path, default=paths.PACKAGES,
                        help="where the agent's packages are (default: build/packages, in a folder for each suite, or rpm)")


def wanted(scenarios, default):
    """Names of the suites that these scenarios are to run in."""
    return sorted({scenario.suite or default for scenario in scenarios})


class Lab:
    """Images of those suites only that the given scenarios want; a failure to build one ends the run."""

    def __init__(self, options, scenarios):
        host.setup()
        self._packages = options.packages
        self._default = options.suite
        self._images = {name: image.base(SUITES[name]) for name in wanted(scenarios, options.suite)}
        self._standin = standin.library()

    def guest(self, scenario, mode="run", on_output=None):
        """A guest ready to run: with the agent installed, unless the scenario wants it otherwise."""
        suite = scenario.suite or self._default
        packages = payload.find_packages(self._packages, SUITES[suite], required=scenario.install != "none")
        base = self._images[suite]
        disk = base / "disk.raw"
        if scenario.install == "yes":
            disk = install.installed(suite, base, packages, self._standin) / "disk.qcow2"
        release = SUITES[suite].release
        if scenario.previous:
            packages["previous"] = previous.packages(release, packages["debs"])
        if scenario.packages:
            packages["packages"] = archive.packages(release, base, scenario.packages)
        return Guest(scenario, base, disk, self._standin, packages, mode, on_output)
