# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's parts (image, stand-in, packages) and guests made of them, for all commands."""

from dataclasses import replace
from pathlib import Path

from . import accel, archive, host, image, install, paths, payload, previous, snapshot, standin
from .company import Company
from .guest import Guest, Start
from .suites import DEFAULT, SUITES


def add_options(parser):
    parser.add_argument("--suite", default=DEFAULT, choices=sorted(SUITES),
                        help="the guests' distribution, if a scenario names none (default: %(default)s)")
    parser.add_argument("--packages", metavar="DIR", type=Path, default=paths.PACKAGES,
                        help="the folder of the agent's packages (default: build/packages, in a folder for each suite, or rpm)")
    parser.add_argument("--accel", default="auto", choices=("auto", "kvm", "tcg"),
                        help="KVM, or an emulated CPU (default: KVM if a trial boot has proved that it works)")


def wanted(scenarios, default):
    """Names of the suites that these scenarios are to run in."""
    return sorted({scenario.suite or default for scenario in scenarios})


class Lab:
    """The images of the suites of these scenarios; a failure to build one ends the run. Entries of the cache that are in use
    stay there until the process ends."""

    def __init__(self, options, scenarios):
        host.setup()
        self._packages = options.packages
        self._default = options.suite
        self._images = {name: image.base(SUITES[name]) for name in wanted(scenarios, options.suite) or [options.suite]}
        self._standin = standin.library()
        self._accel = accel.chosen(options.accel, next(iter(self._images.values())), self._standin)
        self._held = []

    def title(self, scenario):
        """The scenario's name, with the suite where that is not its usual one."""
        usual = scenario.suite or self._default == DEFAULT
        return scenario.name if usual else f"{scenario.name}-{self._default}"

    def start(self, scenario):
        """The parts that this scenario's guest starts from, made if they are missing: a guest with the agent installed, unless
        the scenario wants it otherwise, or a snapshot of that guest."""
        suite = scenario.suite or self._default
        release, base = SUITES[suite].release, self._images[suite]
        packages = payload.find_packages(self._packages, SUITES[suite], required=scenario.install != "none")
        begin = Start(base.path, base / "disk.raw", self._standin, packages, self._accel)
        if scenario.install == "yes":
            entry = install.installed(suite, base, packages, self._standin, self._accel)
            self._held.append(entry)
            begin = replace(begin, disk=entry / "disk.qcow2")
        if scenario.start == "snapshot":
            begin, entry = snapshot.start(suite, scenario, begin)
            self._held.append(entry)
        if scenario.previous:
            packages = {**packages, "previous": previous.packages(release, packages["debs"])}
        programs = archive.programs(release, base, scenario.programs) if scenario.programs else None
        return replace(begin, packages=packages, programs=programs)

    def company(self, scenario):
        """All guests of a scenario that has several."""
        company, start = Company(scenario.guests), self.start(scenario)
        company.guests = [Guest(scenario, start, number=number, company=company) for number in range(1, scenario.guests + 1)]
        return company

    def guest(self, scenario, mode="run", on_output=None):
        """A guest ready to run."""
        return Guest(scenario, self.start(scenario), mode, on_output)
