# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's guest with Cockpit and the agent; it runs the commands of the test."""

import base64
import queue
import shlex
import threading
import time
from dataclasses import replace

from labkit import boot, paths, scenario
from labkit.errors import LabError
from labkit.guest import Guest
from labkit.lab import Lab

from .waits import waited

RECIPE = paths.GUEST / "cockpit.sh"
UP_S, COMMAND_S = 240, 120


class Commands:
    """Answers `follow` of the guest (tests/lab/guest/lib.sh): gives it the next command, and takes the command's output."""

    def __init__(self):
        self._lock = threading.Lock()
        self._reply = None
        self._todo = []
        self.said = queue.Queue()
        self.marked = 0.0  # when the guest last said `host mark`, by this machine's clock

    def request(self, _guest, line, reply):
        word, _, rest = line.partition(" ")
        if word == "next":
            with self._lock:
                self._reply = reply
            self._go_on()
        elif word == "mark":
            self.marked = time.time()
            reply("ok")
        elif word == "said":
            reply("ok")
            self.said.put(rest)
        else:
            return False
        return True

    def give(self, command):
        """Gives the guest a command; None: there will be no more."""
        with self._lock:
            self._todo.append(command)
        self._go_on()

    def _go_on(self):
        with self._lock:
            if self._reply and self._todo:
                command, reply = self._todo.pop(0), self._reply
                self._reply = None
                # The command is sent like that of `on`: its words in quotes, in base64.
                reply("ok" if command is None else "ok " + base64.b64encode(command.encode()).decode())


class CockpitGuest:
    """Runs from the first line to the end of the `with` block. `port` on 127.0.0.1 of this machine leads to Cockpit."""

    def __init__(self, options, deb):
        recipe = scenario.load(RECIPE)
        self._lab = Lab(options, [recipe])
        start = self._lab.start(recipe)
        self._guest = Guest(recipe, replace(start, packages={**start.packages, "cockpit": [deb]}))
        self._guest.room = self._commands = Commands()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.result = None
        self.port = None

    @staticmethod
    def prepare(options):
        recipe = scenario.load(RECIPE)
        Lab(options, [recipe]).start(recipe)

    def _run(self):
        try:
            self.result = self._guest.run()
        finally:
            self._commands.said.put("gone")

    def __enter__(self):
        self._thread.start()
        try:
            self.port = int(self.run("true; cat /run/lab/cockpit.port", UP_S))
        except BaseException:  # of any kind: Python calls no __exit__ then, and QEMU would stay
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error):
        self._commands.give(None)
        self._thread.join(60)
        while self._thread.is_alive():
            for process in list(boot.running):
                process.kill()
            self._thread.join(1)
        target = paths.LOGS / "cockpit"
        target.mkdir(parents=True, exist_ok=True)
        (target / "output").write_text(self.output(), encoding="utf-8")
        (target / "console.log").write_text(self._guest.console(), encoding="utf-8")
        self._guest.close()

    def output(self):
        return self._guest._output.decode(errors="replace")

    def run(self, command, limit=COMMAND_S):
        """Runs a command; returns its output. A command that fails is an error."""
        self._commands.give(command)
        try:
            said = self._commands.said.get(timeout=limit)
        except queue.Empty as error:
            raise LabError(f"the guest has not done within {limit} s: {command}") from error
        if said == "gone":
            self._commands.said.put(said)
            raise LabError(f"the guest has ended:\n{self.output()[-3000:]}")
        status, _, output = said.partition(" ")
        output = base64.b64decode(output).decode(errors="replace")
        if status != "0":
            raise LabError(f"'{command}' ended with status {status}:\n{output}")
        return output.strip()

    def shell(self, *words):
        return self.run(shlex.join(words))

    def moment(self, command):
        """Runs a command; returns the time of its end, by this machine's clock."""
        self.run(f"{command} && host mark")
        return self._commands.marked

    @staticmethod
    def waited():
        """Seconds for which the guest waited for this machine's CPUs, while other processes had them."""
        return sum(waited(process.pid) for process in boot.running)
