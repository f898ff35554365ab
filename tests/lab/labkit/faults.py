# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's side of a guest: the requests of a guest on its control port, one line each, with one answer each.

Answers: `ok`, `ok TEXT` or `error TEXT`. A request is carried out before it is answered, except `reset`, which ends the
machine.
"""

import os
import re
import time

from .errors import LabError
from .scenario import PORT_STATES

# The physical state of a port if a request names only its logical state: LinkUp, or Disabled.
PHYS_UP, PHYS_DOWN = 5, 3


class Ports:
    """The files in which the HCA stand-in finds the state of each port: `STATE PHYS`, replaced atomically."""

    def __init__(self, directory, adapters, state):
        self._directory = directory
        self._ports = [None] * adapters
        for n in range(adapters):
            self.set(n, PORT_STATES[state])

    def set(self, adapter, state=None, phys=None):
        if state is None:
            state = self._ports[adapter][0]
        if phys is None:
            phys = PHYS_UP if state == PORT_STATES["ACTIVE"] else PHYS_DOWN
        self._ports[adapter] = (state, phys)
        path = self._directory / f"{adapter}.port"
        path.with_suffix(".part").write_text(f"{state} {phys}\n", encoding="ascii")
        os.replace(path.with_suffix(".part"), path)

    def state(self, adapter):
        return self._ports[adapter][0]


class Faults:
    """Carries out requests; the guest run supplies the machine's control (qmp) and reacts to reset and result."""

    def __init__(self, directory, adapters, port):
        self._adapters = adapters
        self.ports = Ports(directory, adapters, port)
        self.qmp = None
        self.fabric = None  # between several guests
        self.started = time.monotonic()
        self._timeline = open(directory / "timeline", "a", encoding="utf-8", buffering=1)

    def note(self, text):
        self._timeline.write(f"{time.monotonic() - self.started:9.3f}  {text}\n")

    def close(self):
        self._timeline.close()

    def answer(self, line):
        words = line.split()
        handler = getattr(self, f"_do_{words[0]}", None) if words else None
        if handler is None:
            return f"error unknown request '{line}'"
        self.note(f"host {line}")
        try:
            text = handler(*words[1:])
            return f"ok {text}" if text else "ok"
        except (LabError, ValueError, TypeError, KeyError, OSError) as error:
            return f"error {type(error).__name__}: {error}".replace("\n", " ")

    def _adapter(self, text):
        number = int(text)
        if not 0 <= number < self._adapters:
            raise ValueError(f"no adapter {number} (there are {self._adapters})")
        return number

    def _do_port(self, adapter, state):
        self.ports.set(self._adapter(adapter), state=PORT_STATES[state])

    def _do_phys(self, adapter, number):
        self.ports.set(self._adapter(adapter), phys=int(number))

    def _do_link(self, adapter, state):
        name, up = f"nic{self._adapter(adapter)}", {"up": True, "down": False}[state]
        self.qmp.execute("set_link", name=name, up=up)

    def _do_path(self, way, *how):
        """Words: `rdma` or `net`, then `lost`, or the delay in microseconds and the megabytes a second, 0 for no limit."""
        path = self.fabric.paths[way]
        path.lost = how == ("lost",)
        path.delay, path.rate = (0, 0) if path.lost else (int(how[0]) / 1e6, int(how[1]) * 1e6)

    def _do_carried(self, way):
        """The bytes that this way, `rdma` or `net`, has carried between the guests."""
        return str(self.fabric.paths[way].carried)

    def _do_device_del(self, adapter):
        # Either function ejects the whole slot. The guest carries the removal out, so this only requests it.
        self.qmp.execute("device_del", id=f"nic{self._adapter(adapter)}")

    def _do_stun(self, seconds):
        """The guest stands still for that long, as while vSphere moves, suspends or snapshots a VM; its clock stands still, too."""
        self.qmp.execute("stop")
        time.sleep(float(seconds))
        self.qmp.execute("cont")

    def _do_forward(self, port):
        """A port of the host, on 127.0.0.1, that leads from now on to this port of the guest."""
        self._monitor(f"hostfwd_add regular tcp:127.0.0.1:0-:{int(port)}")
        return re.search(rf"HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)\s+\S+\s+{int(port)}\s", self._monitor("info usernet"))[1]

    def _monitor(self, command):
        said = self.qmp.execute("human-monitor-command", **{"command-line": command})
        if "could not" in said.lower() or "invalid" in said.lower():
            raise LabError(f"QEMU's monitor: {said.strip()}")
        return said

    def _do_mark(self, *_words):
        pass  # Each request is noted in the timeline, which is all that `mark` is for.
