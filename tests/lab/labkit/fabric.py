# SPDX-License-Identifier: GPL-2.0-or-later
"""The fabric between the guests of one scenario: their adapters' networks, and the path of their RDMA messages.

Adapters N of all guests are on one network N, a switch that learns nothing: each frame goes to all the other guests. RDMA
messages go to the guest that owns their GID. Frames and messages each have a delay, rate and loss, which a scenario sets (see
Path) to imitate the paths of vSphere: within the host, over its RoCE uplink, and silently over TCP.

One thread serves all sockets. QEMU connects to them, and waits for this thread only as long as a copy takes.
"""

import heapq
import selectors
import socket
import struct
import threading
import time
from dataclasses import dataclass

from .scenario import PORT_STATES

# struct hca_message of hca/hca.h.
MESSAGE = struct.Struct("=II16s16sIIIIIIII")
KIND, LENGTH, FROM, TO, FROM_QPN, TO_QPN, SERIAL, STATUS = range(8)
RC, UD, ANSWER = range(3)
RETRY_EXCEEDED = 12  # IBV_WC_RETRY_EXC_ERR
GIVE_UP = 1.0  # seconds after which a sender stops repeating a message without answer
FRAME = struct.Struct("!I")  # the length that QEMU's `-netdev stream` puts before each frame


@dataclass
class Path:
    """The path of messages from one guest to another."""
    delay: float = 0             # seconds
    rate: float = 0              # bytes a second; 0: no limit
    lost: bool = False           # no message arrives
    carried: int = 0             # bytes so far
    _free: float = 0             # when the last message has left

    def arrival(self, length, now):
        self.carried += length
        start = max(now, self._free)
        self._free = start + (length / self.rate if self.rate else 0)
        return self._free + self.delay


class Connection:
    """A socket to QEMU, and bytes that are still to be written to it."""

    def __init__(self, sock, guest, network):
        self.socket, self.guest, self.network = sock, guest, network  # network: None for RDMA messages
        self.incoming, self.outgoing = bytearray(), bytearray()

    def messages(self):
        """Whole messages that have arrived, each with the header in front of it."""
        header = FRAME if self.network is not None else MESSAGE
        while len(self.incoming) >= header.size:
            fields = header.unpack_from(self.incoming)
            size = header.size + (fields[0] if header is FRAME else fields[LENGTH])
            if len(self.incoming) < size:
                return
            message = bytes(self.incoming[:size])
            del self.incoming[:size]
            yield message


class Fabric:
    """join() each guest before its QEMU starts. Paths are by name, `rdma` and `net`."""

    def __init__(self):
        self.paths = {"rdma": Path(), "net": Path()}
        self._members = {}       # guest number: (GID tables, ports)
        self._connections = []
        self._due = []           # heap of (time, order, action)
        self._order = 0
        self._selector = selectors.DefaultSelector()
        self._wake, wake = socket.socketpair()
        self._selector.register(wake, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="fabric", daemon=True)

    def join(self, guest, directory, tables, ports):
        """Sockets `fabric` and N.net in the guest's directory."""
        self._members[guest] = (tables, ports)
        names = [("fabric", None), *((f"{n}.net", n) for n in range(len(tables)))]
        for name, network in names:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"{directory}/{name}")
            listener.listen()
            self._selector.register(listener, selectors.EVENT_READ, (guest, network))

    def start(self):
        self._thread.start()

    def close(self):
        self._wake.close()
        self._thread.join()

    def _serve(self):
        while True:
            wait = max(0, self._due[0][0] - time.monotonic()) if self._due else None
            for key, events in self._selector.select(wait):
                if key.data is None:
                    for other in list(self._selector.get_map().values()):
                        other.fileobj.close()
                    self._selector.close()
                    return
                if isinstance(key.data, Connection):
                    self._exchange(key.data, events)
                else:
                    self._accept(key.fileobj, *key.data)
            while self._due and self._due[0][0] <= time.monotonic():
                heapq.heappop(self._due)[2]()

    def _accept(self, listener, guest, network):
        sock, _ = listener.accept()
        sock.setblocking(False)
        connection = Connection(sock, guest, network)
        self._connections.append(connection)
        self._selector.register(sock, selectors.EVENT_READ, connection)

    def _exchange(self, connection, events):
        try:
            if events & selectors.EVENT_WRITE:
                self._flush(connection)
            if events & selectors.EVENT_READ:
                data = connection.socket.recv(1 << 20)
                connection.incoming += data
                if not data:
                    raise ConnectionResetError
        except BlockingIOError:
            return
        except OSError:
            self._connections.remove(connection)
            self._selector.unregister(connection.socket)
            connection.socket.close()
            return
        for message in connection.messages():
            if connection.network is None:
                self._rdma(message)
            else:
                self._frame(connection, message)

    def _flush(self, connection):
        while connection.outgoing:
            sent = connection.socket.send(connection.outgoing)
            del connection.outgoing[:sent]
        self._selector.modify(connection.socket, selectors.EVENT_READ, connection)

    def _at(self, when, action):
        self._order += 1
        heapq.heappush(self._due, (when, self._order, action))

    def _send(self, connection, message):
        if connection not in self._connections:
            return
        connection.outgoing += message
        self._selector.modify(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, connection)

    def _frame(self, sender, frame):
        path = self.paths["net"]
        if path.lost:
            return
        when = path.arrival(len(frame), time.monotonic())
        for other in self._connections:
            if other is not sender and other.network == sender.network:
                self._at(when, lambda other=other: self._send(other, frame))

    def _is_up(self, gid):
        """Whether the host's side of the port with this GID is ACTIVE."""
        for tables, ports in self._members.values():
            for number, table in enumerate(tables):
                if gid in table:
                    return ports.state(number) == PORT_STATES["ACTIVE"]
        return False

    def _connection_of(self, gid):
        for guest, (tables, _) in self._members.items():
            if any(gid in table for table in tables):
                return next((c for c in self._connections if c.guest == guest and c.network is None), None)
        return None

    def _rdma(self, message):
        fields, path, now = MESSAGE.unpack_from(message), self.paths["rdma"], time.monotonic()
        target = self._connection_of(fields[TO])
        if target and not path.lost and self._is_up(fields[TO]) and self._is_up(fields[FROM]):
            # Answers take no time, as they are short.
            when = now + path.delay if fields[KIND] == ANSWER else path.arrival(len(message), now)
            self._at(when, lambda: self._send(target, message))
        elif fields[KIND] == RC:
            sender = self._connection_of(fields[FROM])
            if sender:
                failed = MESSAGE.pack(ANSWER, 0, fields[TO], fields[FROM], fields[TO_QPN], fields[FROM_QPN], fields[SERIAL],
                                      RETRY_EXCEEDED, 0, 0, 0, 0)
                self._at(now + GIVE_UP, lambda: self._send(sender, failed))
        # If the answer is lost, the sender repeats its message in vain until it gives up.
        elif fields[KIND] == ANSWER and (sender := self._connection_of(fields[TO])):
            failed = MESSAGE.pack(*fields[:STATUS], RETRY_EXCEEDED, *fields[STATUS + 1:])
            self._at(now + GIVE_UP, lambda: self._send(sender, failed))
