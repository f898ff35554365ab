# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's control protocol, on a connection that QEMU has made: one command at a time; events are kept for later."""

import json
import shlex

from .errors import LabError


PATIENCE = 300  # seconds; on a busy machine QEMU answers late


class Qmp:
    def __init__(self, connection):
        self.socket = connection
        self.socket.settimeout(PATIENCE)
        self._buffer = b""
        self._events = []
        self._read()  # the greeting
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        """Runs a command and returns its result; events that arrive meanwhile are kept for events()."""
        self.socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            message = self._read()
            if "event" in message:
                self._events.append(message)
            elif "error" in message:
                raise LabError(f"QEMU refused {command} {arguments}: {message['error'].get('desc')}")
            else:
                return message.get("return")

    def save(self, path):
        """Stops the machine and writes its state, all but the memory, to a file. A file that was written while the guest ran was once not of one
        moment: each guest that went on from it crashed, its kernel's list of free memory being broken."""
        self.execute("stop")
        self._enable("events", "x-ignore-shared")
        self.execute("migrate", uri=f"exec:cat >{shlex.quote(str(path))}")
        while (status := self._migration_event()) != "completed":
            if status in ("failed", "cancelled"):
                raise LabError(f"QEMU could not write its state to {path}: {self.execute('query-migrate')}")

    def load(self, path):
        """Has the machine, which waits for it, go on from the state in a file."""
        self._enable("x-ignore-shared")
        self.execute("migrate-incoming", uri=f"exec:cat {shlex.quote(str(path))}")

    def _enable(self, *capabilities):
        self.execute("migrate-set-capabilities", capabilities=[{"capability": name, "state": True} for name in capabilities])

    def _migration_event(self):
        message = {}
        while message.get("event") != "MIGRATION":
            message = self._events.pop(0) if self._events else self._read()
        return message["data"]["status"]

    def events(self):
        """The events that have arrived, or None at the end of the connection; called when the socket is readable."""
        try:
            data = self.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            return None
        self._buffer += data
        while b"\n" in self._buffer:
            message = self._take()
            if "event" in message:
                self._events.append(message)
        arrived, self._events = self._events, []
        return arrived

    def _take(self):
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def _read(self):
        while b"\n" not in self._buffer:
            try:
                data = self.socket.recv(65536)
            except TimeoutError as error:
                raise LabError("QEMU does not answer on its control socket") from error
            except ConnectionResetError:
                data = b""
            if not data:
                raise LabError("QEMU closed its control socket")
            self._buffer += data
        return self._take()
