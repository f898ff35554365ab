# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario: a bash file whose header describes its guest, and whose functions run in that guest.

The header is the comment block at the top: lines `# key: value`, up to the first line of another form. An unknown key
or a bad value is an error, so that a misspelt key cannot silently test something else. A value ${NAME:-default} is
that of the environment variable NAME of the lab's caller.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from . import machine, paths
from .errors import LabError
from .suites import SUITES

PORT_STATES = {"NOP": 0, "DOWN": 1, "INIT": 2, "ARMED": 3, "ACTIVE": 4, "ACTIVE_DEFER": 5}
MAX_ADAPTERS = 4


@dataclass
class Scenario:
    path: Path
    summary: str = ""
    suite: str = ""              # the guest's distribution; by default that of --suite
    adapters: int = 1            # PVRDMA adapters, in the PCI slots 0x10, 0x11, …
    nics: int = 0                # plain vmxnet3 NICs, in the slots after them
    regular: str = "first"       # the VM's regular NIC, in a slot before the adapters or behind them: first, last
    network: bool = False        # each adapter N has a network of its own, 192.168.(30+N).0/24, with a host at .2 and DHCP
    port: str = "ACTIVE"         # the state of the host's side of each port at power-on
    install: str = "yes"         # yes: the agent is installed; none: it is not; manual: the scenario installs it
    previous: bool = False       # the package's previous version lies in /run/lab/previous
    programs: tuple = ()         # Debian packages whose files `use_programs` adds to the guest, with those of dependencies that it lacks;
                                 # to install them would take an emulated CPU long
    timeout: int = 240           # seconds, each boot
    start: str = "boot"          # boot; snapshot: from a guest that has booted without its adapters, which then appear; this is then
                                 # the first boot, and further boots and clones are real ones
    cpus: int = 1                # with several emulated CPUs a kernel now and then panics or hangs
    boots: int = 1               # how often the same guest boots; $BOOT counts from 1
    guests: int = 1              # at a time; `scenario` runs in the first, `on NUMBER COMMAND` in another
    clones: int = 0              # so many other machines follow, one after the other, with copies of its disk; $LAB_CLONE counts
    loaders: bool = False        # rdma-core's units load modules at boot, as on any system; otherwise only the agent does
    kernel: str = ""             # more of the kernel's command line
    initrd: str = "lab"          # lab: small and quick; own: after the guest's hand_over_initrd, the handed-over one
                                 # from the next boot on
    skip_idle: bool = False      # time in which a single emulated CPU is idle passes at once; an answer of the host then seems late
    waits: bool = False          # most of the time, without work for the CPU, so two of this kind take the place of one other in `tests/run`
    soak: bool = False           # in `tests/run --soak` only
    allow_oops: str = ""         # the reason why complaints of the kernel are expected
    early: bool = False          # has an `early` function: before a driver is loaded; of a snapshot, before the adapters appear

    @property
    def name(self):
        return self.path.stem

    @property
    def counted(self):
        return machine.counted(self.cpus, self.guests > 1)

    def topology(self):
        """The settings that a snapshot shares with the scenarios that start from it."""
        return {"regular": self.regular, "cpus": self.cpus, "guests": min(self.guests, 2),
                "install": "yes" if self.install == "yes" else "none", "loaders": self.loaders}


def _number(low, high):
    def parse(text):
        if not text.isdigit() or not low <= int(text) <= high:
            raise ValueError(f"a number from {low} to {high}")
        return int(text)
    return parse


def _one_of(*words):
    def parse(text):
        if text not in words:
            raise ValueError("one of " + ", ".join(words))
        return text
    return parse


def _yes(text):
    return _one_of("yes", "no")(text) == "yes"


DIRECTIVES = {
    "summary": str,
    "suite": _one_of(*SUITES),
    "adapters": _number(0, MAX_ADAPTERS),
    "nics": _number(0, 8),
    "regular": _one_of("first", "last"),
    "network": _yes,
    "port": _one_of(*PORT_STATES),
    "install": _one_of("yes", "none", "manual"),
    "previous": _yes,
    "programs": lambda text: tuple(text.split()),
    "timeout": _number(10, 1000000),
    "skip-idle": _yes,
    "waits": _yes,
    "soak": _yes,
    "start": _one_of("boot", "snapshot"),
    "cpus": _number(1, 2),
    "boots": _number(1, 100),
    "guests": _number(1, 4),
    "clones": _number(0, 9),
    "loaders": _yes,
    "kernel": str,
    "initrd": _one_of("lab", "own"),
    "allow-oops": str,
}


def _from_environment(text):
    found = re.fullmatch(r"\$\{(PVRDMA_LAB_[A-Z_]+):-(.*)\}", text)
    return os.environ.get(found[1]) or found[2] if found else text


def parse(path, text):
    scenario = Scenario(path)
    for number, line in enumerate(text.splitlines(), 1):
        if number <= 2 and line.startswith(("#!", "# SPDX-")):
            continue
        found = re.fullmatch(r"#\s*([a-z-]+):\s*(.*?)\s*", line)
        if not found:
            break
        key, value = found[1], _from_environment(found[2])
        if key not in DIRECTIVES:
            raise LabError(f"{path}:{number}: unknown directive '{key}' (known: {', '.join(DIRECTIVES)})")
        try:
            setattr(scenario, key.replace("-", "_"), DIRECTIVES[key](value))
        except ValueError as error:
            raise LabError(f"{path}:{number}: {key}: '{value}' is not {error}") from error
    scenario.early = bool(re.search(r"^early\s*\(\)", text, re.M))
    if not re.search(r"^scenario\s*\(\)", text, re.M):
        raise LabError(f"{path}: has no function `scenario`")
    if not scenario.summary:
        raise LabError(f"{path}: has no `# summary:`")
    if scenario.guests > 1 and (scenario.boots > 1 or scenario.clones):
        raise LabError(f"{path}: several `# guests:` have neither boots nor clones")
    if scenario.start == "snapshot" and (scenario.kernel or scenario.skip_idle):
        raise LabError(f"{path}: with `# start: snapshot` there is no boot that could have kernel or skip-idle")
    return scenario


def load(argument):
    """By path, or by name below scenarios/."""
    path = Path(argument)
    if not path.is_file():
        path = paths.SCENARIOS / f"{argument}.sh"
    try:
        return parse(path, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(f"reading scenario '{argument}': {error.strerror} ({path})") from error


def load_all():
    return [load(path) for path in sorted(paths.SCENARIOS.glob("*.sh"))]
