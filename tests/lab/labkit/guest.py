# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest of one scenario: its disk, its boots one after the other, its output."""

import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from . import payload
from .boot import Boot
from .errors import run
from .faults import Faults
from .machine import Machine, REGULAR_SLOTS
from .mux import Mux

SKIPPED = 77

directories = set()  # of guests that are not closed; the signal handler that ends the lab removes them


@dataclass
class Result:
    status: int
    output: str
    seconds: float
    boots: int


@dataclass(frozen=True)
class Start:
    """The parts that a guest starts from."""
    image: Path                  # the folder with kernel and initrd.lab
    disk: Path                   # raw or qcow2; stays as it is
    standin: Path                # the HCA stand-in's library
    packages: dict               # files, by their folder of /run/lab
    accel: str = "tcg"
    snapshot: Path = None        # its folder; None: the guest boots
    programs: Path = None        # a file system with the files of further packages


class Guest:
    """A guest of one scenario. Its directory holds disk, sockets and logs, and is removed by close()."""

    sign_of_life = None          # seconds, see boot.py

    def __init__(self, scenario, start, mode="run", on_output=None, clone=0, number=1, company=None):
        self.scenario, self.mode, self.on_output, self._start = scenario, mode, on_output, start
        # A template's disk is the base of its clones'.
        self.keeps_disk = mode in ("install", "snapshot") or clone < 1 <= scenario.clones
        self.directory = Path(tempfile.mkdtemp(prefix="pvrdma-lab-"))
        directories.add(self.directory)
        self._output = bytearray()
        self._mux = Mux(str(self.directory), scenario.adapters)
        self.faults = Faults(self.directory, scenario.adapters, scenario.port)
        # Answers the requests about other guests, and gives this guest the commands of the first.
        self.number, self.room = number, company and company.room
        if company:
            company.join(self, self._mux)
        self.disk, self.memory, self.state = (self.directory / name for name in ("disk.qcow2", "memory", "state"))
        form = "raw" if start.disk.suffix == ".raw" else "qcow2"
        run("making the guest's disk",
            ["qemu-img", "create", "-q", "-f", "qcow2", "-b", start.disk, "-F", form, self.disk])
        payload.write(self.directory / "payload.tar", scenario, start.packages, mode, clone, number, start.programs)
        append = [scenario.kernel] if scenario.kernel else []
        if scenario.early or mode == "shell":
            append.append("lab.early")
        self.machine = Machine(self.directory, start.image, self.disk, start.standin, scenario.adapters, scenario.nics,
                               scenario.guests > 1, scenario.network, scenario.initrd, append, scenario.loaders, REGULAR_SLOTS[scenario.regular], clone or number - 1,
                               cpus=scenario.cpus, accel=start.accel, incoming=start.snapshot, interactive=mode == "shell", skip_idle=scenario.skip_idle)

    def clone(self, number):
        """Another machine, number 1 and up, with a copy of this guest's disk after its last boot."""
        return Guest(self.scenario, replace(self._start, disk=self.disk, snapshot=None), self.mode, self.on_output, number)

    def close(self):
        self.faults.close()
        self._mux.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        directories.discard(self.directory)

    def run(self):
        """All boots; the first failing one ends it. No boot is repeated."""
        started = time.monotonic()
        status, boot = None, 0
        while status is None:
            boot += 1
            status = Boot(self, boot).run()
            self.machine.incoming = None
        return Result(status, self._output.decode(errors="replace"), time.monotonic() - started, boot)

    def console(self):
        path = self.directory / "console.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def receive(self, data):
        self._output += data
        if self.on_output:
            self.on_output(data)

    def say(self, text):
        self.receive(text.encode() + b"\n")

    def say_console(self):
        for name, title in (("console.log", "the console's end"), ("qemu.log", "QEMU's own messages")):
            path = self.directory / name
            if path.exists() and path.stat().st_size:
                self.say(f"--- {title}")
                self.say(path.read_text(encoding="utf-8", errors="replace")[-4000:].rstrip())
