# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of one scenario: the shell of the first runs commands in the others, in each one at a time.

Requests on the control port: of the first guest `on NUMBER COMMAND` (in base64), answered by `ok STATUS OUTPUT` (in
base64); of the others `next`, answered by `ok COMMAND` or, at the end, `ok`, and then `said STATUS OUTPUT`. An answer may
come from another guest's thread.
"""

import concurrent.futures
import threading

from .fabric import Fabric


class Room:
    def __init__(self, guests):
        self._lock = threading.Lock()
        self._waiting = {}       # guest: the function that answers its `next`
        self._commands = {number: [] for number in range(2, guests + 1)}
        self._asked = {}         # guest: the function that answers the first guest's `on`
        self._ended = False

    def request(self, guest, line, reply):
        """Whether the line is a request to this class; if so, reply(text) is called now or later."""
        word, _, rest = line.partition(" ")
        with self._lock:
            if word == "on" and guest == 1:
                number, _, command = rest.partition(" ")
                self._on(int(number) if number.isdigit() else 0, command, reply)
            elif word == "next":
                self._waiting[guest] = reply
                self._go_on(guest)
            elif word == "said" and guest in self._asked:
                reply("ok")
                self._asked.pop(guest)(f"ok {rest}")
            else:
                return False
        return True

    def _on(self, guest, command, reply):
        if guest not in self._commands or self._ended:
            reply(f"error there is no guest {guest}")
            return
        self._asked[guest] = reply
        self._commands[guest].append(command)
        self._go_on(guest)

    def _go_on(self, guest):
        if guest in self._waiting and (self._commands[guest] or self._ended):
            command = self._commands[guest].pop(0) if self._commands[guest] else ""
            self._waiting.pop(guest)(f"ok {command}".rstrip())

    def leave(self, guest):
        """The guest has ended: all waits for it end. When the first guest ends, the others are ended too."""
        with self._lock:
            if guest == 1:
                self._ended = True
                for other in self._commands:
                    self._go_on(other)
            else:
                self._commands.pop(guest, None)
                if guest in self._asked:
                    self._asked.pop(guest)(f"error guest {guest} has ended")


class Company:
    """Guests that run at the same time, and the fabric between them."""

    def __init__(self, guests):
        self.room, self.fabric = Room(guests), Fabric()
        self.guests = []
        self._muxes = []

    def join(self, guest, mux):
        guest.faults.fabric = self.fabric
        self.fabric.join(guest.number, guest.directory, mux.tables, guest.faults.ports)
        for other in self._muxes:
            other.peers.append(mux)
            mux.peers.append(other)
        self._muxes.append(mux)

    def close(self):
        self.fabric.close()
        for guest in self.guests:
            guest.close()

    def run(self):
        """The results of all guests in their order."""
        self.fabric.start()
        with concurrent.futures.ThreadPoolExecutor(len(self.guests)) as pool:
            return list(pool.map(self._run, self.guests))

    def _run(self, guest):
        try:
            return guest.run()
        finally:
            self.room.leave(guest.number)
