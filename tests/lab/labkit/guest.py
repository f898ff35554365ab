"""Runs one guest through its boots: starts QEMU, serves its ports, ends with a result. One event loop, no polling."""

import contextlib
import os
import re
import selectors
import shutil
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import payload
from .errors import LabError, run
from .faults import Faults
from .machine import Machine, PORTS, REGULAR_SLOTS
from .mux import Mux
from .qmp import Qmp

TIMED_OUT, DEAD, SKIPPED = 124, 125, 77
REPEATS = 3  # of boots that a fault below the agent has spoilt
START = 300  # seconds within which a boot has come as far as the scenario
SIGN_OF_LIFE = 60  # seconds after which a guest that has said nothing at all is asked whether it lives
KEY_EFFECT = 2  # seconds for the kernel to answer a key
GRACE = 20  # seconds beyond a scenario's own limit: the guest notices first, and says more


def emulator_tripped(console):
    """Whether the kernel found a breakpoint in its text that it had not set, or no longer: while it patches itself, one
    emulated CPU runs what another has already replaced (QEMU 7.2, several vCPUs; once in some hundred boots)."""
    return re.search(r"\bint3: 0000 \[#1\]", console) is not None


def driver_leaked(console):
    """Whether the kernel waits for a netdev that the driver never lets go of. With a second adapter there, whose notifier
    has NETDEV_REGISTER replayed to it or sees a new vmxnet3, the work queued for it runs while the function's own probe
    is under way, takes the first device of the driver's list, which is that one, and both take a reference, of which one
    is given back (pvrdma_netdevice_event_work and pvrdma_pci_probe, pvrdma_main.c of Linux 6.1 and 6.12). Slow as a guest
    is here it happens about every second time. Nothing but a reboot ends it."""
    return re.search(r"unregister_netdevice: waiting for \S+ to become free", console) is not None


running = set()  # QEMU processes: whoever ends the lab from a signal ends them first


@dataclass
class Result:
    status: int
    output: str
    seconds: float
    boots: int


class Guest:
    """A guest of one scenario. Its directory holds disk, sockets and logs, and is removed by close()."""

    def __init__(self, scenario, image, disk, standin, packages, mode="run", on_output=None, clone=0):
        self._parts = (scenario, image, standin, packages, mode, on_output)
        # A template's disk is the base of its clones'.
        self.keeps_disk = mode == "install" or clone < 1 <= scenario.clones
        self.directory = Path(tempfile.mkdtemp(prefix="pvrdma-lab-"))
        self._scenario, self._mode, self._on_output = scenario, mode, on_output
        self._output = bytearray()
        self._mux = Mux(str(self.directory), scenario.adapters)
        self.faults = Faults(self.directory, scenario.adapters, scenario.port)
        self.disk = self.directory / "disk.qcow2"
        self._base = Path(disk)
        self._make_disk()
        payload.write(self.directory / "payload.tar", scenario, packages, mode, clone)
        append = [scenario.kernel] if scenario.kernel else []
        if scenario.early or mode == "shell":
            append.append("lab.early")
        self._machine = Machine(self.directory, image.path, self.disk, standin, scenario.adapters, scenario.nics,
                                scenario.network, scenario.initrd, append, REGULAR_SLOTS[scenario.regular], clone,
                                interactive=mode == "shell")
        self._boot = 0
        self._repeats = 0

    def clone(self, number):
        """Another machine, number 1 and up, with a copy of this one's disk as its last boot has left it."""
        scenario, image, standin, packages, mode, on_output = self._parts
        return Guest(scenario, image, self.disk, standin, packages, mode, on_output, number)

    def _make_disk(self):
        form = "raw" if self._base.suffix == ".raw" else "qcow2"
        run("making the guest's disk", ["qemu-img", "create", "-q", "-f", "qcow2", "-b", self._base, "-F", form, self.disk])

    def close(self):
        self.faults.close()
        self._mux.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self):
        """All boots; the first failing one ends it."""
        started = time.monotonic()
        status = None
        while status is None:
            self._boot += 1
            status = _Boot(self, self._boot).run()
            why = self._fault_below(status)
            if why and self._repeats < REPEATS:
                self._repeat_boot(why)
                status = None
            elif status is None and self._boot == self._scenario.boots:
                self.say("FAIL: the guest went down without a result")
                self.say_console()
                status = 1
        return Result(status, self._output.decode(errors="replace"), time.monotonic() - started, self._boot)

    def _console(self):
        path = self.directory / "console.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def _fault_below(self, status):
        """Why a boot that did not end well says nothing about the agent; none: it does."""
        if status is None and emulator_tripped(self._console()):
            return "QEMU tripped over a patch of the kernel's text, and the kernel panicked"
        if status == DEAD:
            return "the guest's CPUs stood still before the kernel's first word"
        if status and driver_leaked(self._console()):
            return "vmw_pvrdma kept a reference to a netdev that was removed, and the kernel waits for it for ever"
        return None

    def _repeat_boot(self, why):
        self.say(f"NOTE: boot {self._boot} is repeated: {why}")
        self._repeats += 1
        self._boot -= 1
        if self._boot == 0:
            self._make_disk()

    def receive(self, data):
        self._output += data
        if self._on_output:
            self._on_output(data)

    def say(self, text):
        self.receive(text.encode() + b"\n")

    def say_console(self):
        for name, title in (("console.log", "the console's end"), ("qemu.log", "QEMU's own messages")):
            path = self.directory / name
            if path.exists() and path.stat().st_size:
                self.say(f"--- {title}")
                self.say(path.read_text(encoding="utf-8", errors="replace")[-4000:].rstrip())


def _received(sock):
    """What is there to read; nothing at the end, which a killed QEMU may announce as a reset connection."""
    try:
        return sock.recv(65536)
    except OSError:
        return b""


class _Boot:
    """One QEMU process. run() gives the final status, or None when the guest is to boot once more."""

    def __init__(self, guest, number):
        # pylint: disable=protected-access  # two halves of one thing
        self._guest, self._number = guest, number
        self._scenario, self._machine, self._mode = guest._scenario, guest._machine, guest._mode
        self._selector = selectors.DefaultSelector()
        self._listeners = {name: self._listen(name) for name in (*PORTS, "qmp")}
        self._lines = b""
        self._status = None
        self._again = False
        self._ended = False
        self._heard = False  # of the scenario's side
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
            self._register(process, pidfd)
            self._loop(process)
        finally:
            if process.poll() is None:
                self._stop(process)
            process.wait()
            running.discard(process)
            self._drain()
            for key in list(self._selector.get_map().values()):
                if isinstance(key.fileobj, socket.socket):
                    key.fileobj.close()
            self._selector.close()
            os.close(pidfd)
        self._guest.faults.note(f"QEMU of boot {self._number} has ended")
        return None if self._again else self._status

    def _stop(self, process):
        # An interactive QEMU gives the terminal back; any other has nothing that is worth the time.
        (process.terminate if self._mode == "shell" else process.kill)()

    def _register(self, process, pidfd):
        """QEMU connects to all three before it runs the guest, or ends with a message."""
        self._selector.register(pidfd, selectors.EVENT_READ, self._exited)
        connections = {}
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
        self._out_socket = connections["out"]
        try:
            self._guest.faults.qmp = Qmp(connections["qmp"])
        except LabError as error:
            raise self._did_not_start() from error

    def _did_not_start(self):
        log = (self._guest.directory / "qemu.log").read_text(encoding="utf-8", errors="replace")
        return LabError(f"QEMU did not start, or ended at once:\n{log}")

    def _loop(self, process):
        started = time.monotonic()
        self._process = process
        if self._mode == "shell":
            return self._serve_until(None)
        limit = self._scenario.timeout
        self._serve_until(started + SIGN_OF_LIFE, lambda: self._heard)
        if self._is_dead():
            self._status, self._again = DEAD, False
            return None
        self._serve_until(started + min(START, limit) + GRACE, lambda: self._heard)
        if self._heard:
            self._serve_until(started + limit + GRACE)
        if self._ended:
            return None
        what = f"end within {limit} s" if self._heard else f"come as far as the scenario within {min(START, limit)} s"
        self._guest.say(f"FAIL: boot {self._number} did not {what} (host's clock)")
        self._show_who_is_stuck()
        self._guest.say_console()
        self._status, self._again = TIMED_OUT, False
        return None

    def _serve_until(self, deadline, done=lambda: False):
        """Serves the guest until QEMU has ended, done() holds or the deadline (time.monotonic) has come."""
        while not self._ended and not done():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return
            for key, _ in self._selector.select(left):
                key.data(key.fileobj)

    def _has_spoken(self):
        # pylint: disable=protected-access  # two halves of one thing
        return self._heard or self._ended or bool(self._guest._console())

    def _is_dead(self):
        """Whether the guest has never said a word and answers no key: its emulated CPUs stand still, with interrupts off
        (QEMU 7.2; once in some hundred boots, a second after the start). Shows where they stand."""
        for _ in range(3):
            if self._has_spoken():
                return False
            self._press("9")  # answered on the console, whatever the log level
        if self._has_spoken():
            return False
        try:
            registers = self._guest.faults.qmp.execute("human-monitor-command", **{"command-line": "info registers -a"})
        except (LabError, OSError) as error:
            registers = str(error)
        registers = "\n".join(line for line in registers.splitlines() if re.match(r"CPU#|[ER]\w\w=|R\d", line))
        self._guest.say(f"--- nothing came from the guest within {SIGN_OF_LIFE} s, on no key either; its CPUs:\n{registers}")
        return True

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
        self._events(self._guest.faults.qmp.socket)  # its last words may still be unread
        if self._mode == "shell":
            self._again = self._again or self._reason == "guest-reset"
            self._status = 0
        elif self._status is None:
            # It reset itself, or was reset: the next boot goes on, if the scenario has one.
            self._again = self._number < self._scenario.boots

    def _out(self, sock):
        data = _received(sock)
        self._heard = self._heard or bool(data)
        if data:
            self._guest.receive(data)
        else:
            self._selector.unregister(sock)

    def _drain(self):
        """What the guest wrote before it ended and nobody has read yet."""
        sock = getattr(self, "_out_socket", None)
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
            answer = self._request(line.decode(errors="replace").strip())
            try:
                sock.sendall(answer.encode() + b"\n")
            except OSError:  # the request was one that ends QEMU
                return

    def _request(self, line):
        """The requests about the run itself; all others are faults."""
        word, _, rest = line.partition(" ")
        if word == "boot":
            return f"ok {self._number}"
        if word == "reset":
            self._guest.faults.note("host reset")
            self._again = self._mode == "shell"
            self._stop(self._process)
            return "ok"
        if word == "result" and rest.isdigit():
            self._guest.faults.note(f"result {rest}")
            self._status = int(rest)
            self._again = self._status == 0 and self._number < self._scenario.boots
            if self._again or (self._guest.keeps_disk and not self._status):
                return "ok poweroff"
            # Nothing on the disk is needed any more. The output port may still hold what the guest wrote before.
            self._stop(self._process)
            return "ok end"
        return self._guest.faults.answer(line)
