# SPDX-License-Identifier: GPL-2.0-or-later
"""One boot of a guest: serves QEMU's sockets in one event loop, without polling, until there is a result."""

import contextlib
import functools
import os
import re
import selectors
import socket
import time

from .errors import LabError
from .host import delayed
from .machine import PORTS
from .qmp import Qmp

TIMED_OUT, DEAD = 124, 125
START = 300  # seconds within which a boot must reach the scenario
SIGN_OF_LIFE = 60  # seconds after which a guest without any output is tested by a key; a guest may have its own number
KEY_EFFECT = 2  # seconds for the kernel to answer a key
# Beyond a scenario's own limit, which the guest's clock measures: the guest notices first, and says more. A second of the
# guest takes one of the host's or longer.
GRACE, SLOWER = 20, 2

running = set()  # QEMU processes; the signal handler that ends the lab ends them first


def _received(sock):
    """The bytes that have arrived; empty at the end, also if a killed QEMU has reset the connection."""
    try:
        return sock.recv(65536)
    except OSError:
        return b""


def _answer(sock, text):
    with contextlib.suppress(OSError):  # the request may be one that ends QEMU
        sock.sendall(text.encode() + b"\n")


class Boot:
    """One QEMU process. run() gives the final status, or None when the guest is to boot once more."""

    def __init__(self, guest, number):
        self._guest, self._number = guest, number
        self._scenario, self._machine, self._mode = guest.scenario, guest.machine, guest.mode
        self._selector = selectors.DefaultSelector()
        self._listeners = {name: self._listen(name) for name in (*PORTS, "qmp")}
        self._connections = {}  # QEMU's, by the names of the listeners
        self._lines = b""
        self._status = None
        self._again = False
        self._reset = False  # whether the guest asked for the next boot by `host reset`
        self._ended = False
        self._heard = False  # whether the scenario has written anything
        self._delayed = 0.0
        self._reason = ""  # why QEMU ended, in its own words

    def _listen(self, name):
        path = self._guest.directory / name
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(1)
        return listener

    def run(self):
        process = self._machine.start()
        running.add(process)
        pidfd = os.pidfd_open(process.pid)
        try:
            self._process = process
            self._register(process, pidfd)
            self._loop(process)
        finally:
            if process.poll() is None:
                self._stop(process)
            process.wait()
            running.discard(process)
            self._drain()
            for connection in self._connections.values():
                connection.close()
            self._selector.close()
            os.close(pidfd)
        self._guest.faults.note(f"QEMU of boot {self._number} has ended")
        if self._status is None and not self._again:
            self._guest.say("FAIL: the guest went down without a result")
            self._guest.say_console()
            self._status = 1
        return None if self._again else self._status

    def _stop(self, process):
        # An interactive QEMU must restore the terminal; any other can be killed at once.
        (process.terminate if self._mode == "shell" else process.kill)()

    def _register(self, process, pidfd):
        """QEMU connects to all three before it runs the guest, or ends with a message."""
        self._selector.register(pidfd, selectors.EVENT_READ, self._exited)
        connections = self._connections
        for name, listener in self._listeners.items():
            listener.settimeout(0.1)
            while name not in connections:
                try:
                    connections[name], _ = listener.accept()
                except TimeoutError:
                    if process.poll() is not None:
                        raise self._did_not_start() from None
            listener.close()
        for name, handler in (("out", self._out), ("ctl", self._ctl), ("qmp", self._events)):
            self._selector.register(connections[name], selectors.EVENT_READ, handler)
        try:
            self._guest.faults.qmp = Qmp(connections["qmp"])
        except LabError as error:
            raise self._did_not_start() from error
        if self._machine.incoming:
            self._guest.faults.qmp.load(self._machine.incoming / "state")
            connections["ctl"].sendall(b"ok\n")  # the guest waits for the answer to its `host snapshot`

    def _did_not_start(self):
        log = (self._guest.directory / "qemu.log").read_text(encoding="utf-8", errors="replace")
        return LabError(f"QEMU did not start, or ended at once:\n{log}")

    def _loop(self, process):
        started = time.monotonic()
        if self._mode == "shell":
            return self._serve_until(None)
        limit = self._scenario.timeout * SLOWER
        self._serve_until(started + min(self._guest.sign_of_life or SIGN_OF_LIFE, limit), lambda: self._heard, process.pid)
        if self._is_dead():
            self._status, self._again = DEAD, False
            return None
        self._serve_until(started + min(START, limit) + GRACE, lambda: self._heard, process.pid)
        if self._heard:
            self._serve_until(started + limit + GRACE, pid=process.pid)
        if self._ended:
            return None
        what = "end" if self._heard else "come as far as the scenario"
        self._guest.say(f"FAIL: boot {self._number} did not {what} within {time.monotonic() - started:.0f} s of the host's clock")
        self._show_registers()
        self._show_who_is_stuck()
        self._guest.say_console()
        self._status, self._again = TIMED_OUT, False
        return None

    def _serve_until(self, deadline, done=lambda: False, pid=None):
        """Serves the guest until QEMU has ended, done() is true or the deadline (time.monotonic) has come. With a `pid` the
        deadline moves by the time for which that process waited for a CPU."""
        while not self._ended and not done():
            left = None if deadline is None else deadline - time.monotonic()
            if pid and left <= 0:
                self._delayed = max(self._delayed, delayed(pid))  # 0 for a process that has just ended
                left += self._delayed
            if left is not None and left <= 0:
                return
            for key, _ in self._selector.select(left):
                key.data(key.fileobj)

    def _has_spoken(self):
        return self._heard or self._ended or bool(self._guest.console())

    def _loads(self):
        """Whether QEMU still loads the snapshot: the guest cannot run before. The next limit counts that time."""
        with contextlib.suppress(LabError, OSError):
            return self._guest.faults.qmp.execute("query-status")["status"] == "inmigrate"
        return False

    def _is_dead(self):
        """Whether the guest runs, has no output at all and answers no key. Prints where its CPUs stand."""
        for _ in range(3):
            if self._has_spoken() or self._loads():
                return False
            self._press("9")  # the kernel answers on the console at any log level
        if self._has_spoken():
            return False
        self._guest.say("FAIL: nothing came from the guest within its time, not even on a key")
        self._show_registers()
        return True

    def _show_registers(self):
        try:
            registers = self._guest.faults.qmp.execute("human-monitor-command", **{"command-line": "info registers -a"})
        except (LabError, OSError) as error:
            registers = str(error)
        registers = "\n".join(line for line in registers.splitlines() if re.match(r"CPU#|[ER]\w\w=|R\d", line))
        self._guest.say(f"--- the guest's CPUs\n{registers}")

    def _show_who_is_stuck(self):
        """Has the kernel list its blocked tasks on the console."""
        self._press("9")
        self._press("w")

    def _press(self, letter):
        """A SysRq key (Documentation/admin-guide/sysrq.rst), and time for its effect."""
        keys = [{"type": "qcode", "data": key} for key in ("alt", "sysrq", letter)]
        with contextlib.suppress(LabError, OSError):
            self._guest.faults.qmp.execute("send-key", keys=keys)
        self._serve_until(time.monotonic() + KEY_EFFECT)

    def _exited(self, _pidfd):
        self._ended = True
        self._events(self._guest.faults.qmp.socket)  # its last events may still be unread
        if self._mode == "shell":
            self._again = self._again or self._reason == "guest-reset"
            self._status = 0
        elif self._status is None:
            # The scenario goes on with the next boot, if it has one and asked for it. Any other end is a failure.
            self._again = not self._panicked() and self._reset and self._number < self._scenario.boots

    def _panicked(self):
        found = "Kernel panic - not syncing" in self._guest.console()
        if found:
            self._guest.say("FAIL: the guest's kernel panicked")
            self._guest.say_console()
            self._status = 1
        return found

    def _out(self, sock):
        data = _received(sock)
        self._heard = self._heard or bool(data)
        if data:
            self._guest.receive(data)
        else:
            self._selector.unregister(sock)

    def _drain(self):
        """Reads output that the guest wrote before it ended."""
        sock = self._connections.get("out")
        if sock is None:
            return
        sock.setblocking(False)
        try:
            while data := sock.recv(65536):
                self._guest.receive(data)
        except OSError:
            pass

    def _events(self, sock):
        arrived = self._guest.faults.qmp.events()
        if arrived is None:
            if sock in self._selector.get_map():
                self._selector.unregister(sock)
            return
        for event in arrived:
            if event["event"] == "SHUTDOWN":
                self._reason = event.get("data", {}).get("reason", "")
            self._guest.faults.note(f"QEMU: {event['event']} {event.get('data', '')}")

    def _ctl(self, sock):
        data = _received(sock)
        if not data:
            self._selector.unregister(sock)
            return
        self._heard = True
        self._lines += data
        while b"\n" in self._lines:
            line, _, self._lines = self._lines.partition(b"\n")
            line = line.decode(errors="replace").strip()
            room = self._guest.room
            if not room or not room.request(self._guest.number, line, functools.partial(_answer, sock)):
                _answer(sock, self._request(line))

    def _request(self, line):
        """The requests about the run itself; all others are faults."""
        word, _, rest = line.partition(" ")
        if word == "boot":
            return f"ok {self._number}"
        if word == "reset":
            self._guest.faults.note("host reset")
            self._reset, self._again = True, self._mode == "shell"
            self._stop(self._process)
            return "ok"
        if word == "snapshot":
            self._guest.faults.qmp.save(self._guest.state)
            self._machine.save_memory(self._process.pid, self._guest.memory)
            self._status = 0
            self._stop(self._process)
            return "ok"
        if word == "result" and rest.isdigit():
            self._guest.faults.note(f"result {rest}")
            self._status = int(rest)
            self._again = self._status == 0 and self._number < self._scenario.boots
            if self._again or (self._guest.keeps_disk and not self._status):
                return "ok poweroff"
            # The disk is no longer needed. The output port may still hold output of the guest.
            self._stop(self._process)
            return "ok end"
        return self._guest.faults.answer(line)
