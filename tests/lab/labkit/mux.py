# SPDX-License-Identifier: GPL-2.0-or-later
"""The GID and MAD multiplexer that QEMU's pvrdma devices talk to: one socket per adapter, messages of 360 bytes.

A device registers the GIDs of its netdev here; they become its table in the file N.gids, 16 bytes an entry, which
the HCA stand-in reads. Index 0 stays empty, because QEMU takes it for a failure. A MAD goes to the adapter that
owns its destination GID, also of another guest's. Runs in a thread of its own: QEMU waits for these answers while it answers the lab.
"""

import os
import selectors
import socket
import struct
import threading

from .mad import Directory

MESSAGE = 360
REQUEST, RESPONSE = 0, 1
REGISTER, UNREGISTER, MAD = 0, 1, 2
OK, NO_SUCH_GID, TABLE_FULL = 0, 2, 3
TABLE_ENTRIES = 64
# Offsets: the header's GID and error code; the GID in the address part of a MAD; the MAD itself.
GID, ERROR, MAD_GID, MAD_TEXT = 8, 24, 72, 100


def _header(message):
    return struct.unpack_from("<ii", message)


def response(message, error):
    """The same message, marked as an answer."""
    answer = bytearray(message)
    struct.pack_into("<i", answer, 0, RESPONSE)
    struct.pack_into("<i", answer, ERROR, error)
    return bytes(answer)


def delivered(message, destination):
    """A MAD for its destination, with the destination's GID in the header and the sender's in the address part."""
    turned = bytearray(message)
    turned[GID:GID + 16] = destination
    turned[MAD_GID:MAD_GID + 16] = message[GID:GID + 16]
    struct.pack_into("<i", turned, ERROR, OK)
    return bytes(turned)


class GidTable:
    """One adapter's GIDs, mirrored in a file that is replaced atomically at each change."""

    def __init__(self, path):
        self._path = path
        self._entries = [bytes(16)] * TABLE_ENTRIES
        self._save()

    def __contains__(self, gid):
        return gid != bytes(16) and gid in self._entries

    def add(self, gid):
        if gid in self:
            return OK
        for index in range(1, TABLE_ENTRIES):
            if self._entries[index] == bytes(16):
                self._entries[index] = gid
                self._save()
                return OK
        return TABLE_FULL

    def remove(self, gid):
        if gid not in self:
            return NO_SUCH_GID
        self._entries[self._entries.index(gid)] = bytes(16)
        self._save()
        return OK

    def _save(self):
        part = f"{self._path}.part"
        with open(part, "wb") as out:
            out.write(b"".join(self._entries))
        os.replace(part, self._path)


class Connection:
    def __init__(self, sock, adapter):
        self.socket, self.adapter, self.buffer = sock, adapter, b""


class Mux:
    """Sockets N.mux and tables N.gids in a directory, for adapters 0 … count-1."""

    def __init__(self, directory, count):
        self.peers = []  # the multiplexers of the other guests
        self._directory = Directory()
        self.tables = [GidTable(f"{directory}/{n}.gids") for n in range(count)]
        self._selector = selectors.DefaultSelector()
        self._connections = {}  # adapter: its latest connection, to which MADs for it go
        self._wake, wake = socket.socketpair()
        self._selector.register(wake, selectors.EVENT_READ, None)
        for n in range(count):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"{directory}/{n}.mux")
            listener.listen()
            self._selector.register(listener, selectors.EVENT_READ, n)
        self._thread = threading.Thread(target=self._serve, name="mux", daemon=True)
        self._thread.start()

    def close(self):
        self._wake.close()
        self._thread.join()

    def _serve(self):
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    for other in list(self._selector.get_map().values()):
                        other.fileobj.close()
                    self._selector.close()
                    return
                if isinstance(key.data, Connection):
                    self._receive(key.data)
                else:
                    sock, _ = key.fileobj.accept()
                    connection = Connection(sock, key.data)
                    self._connections[key.data] = connection
                    self._selector.register(sock, selectors.EVENT_READ, connection)

    def _receive(self, connection):
        try:
            data = connection.socket.recv(65536)
            connection.buffer += data
            while len(connection.buffer) >= MESSAGE:
                message, connection.buffer = connection.buffer[:MESSAGE], connection.buffer[MESSAGE:]
                self._message(connection, message)
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(connection.socket)
            connection.socket.close()
            if self._connections.get(connection.adapter) is connection:
                del self._connections[connection.adapter]

    def _message(self, connection, message):
        kind, operation = _header(message)
        if kind != REQUEST:  # a device's answer to a MAD delivered to it
            return
        table, gid = self.tables[connection.adapter], message[GID:GID + 16]
        error = OK
        if operation == REGISTER:
            error = table.add(gid)
        elif operation == UNREGISTER:
            error = table.remove(gid)
        elif operation == MAD:
            destination = self._directory.destination(message[MAD_TEXT:])
            error = OK if any(mux.deliver(message, destination) for mux in (self, *self.peers)) else NO_SUCH_GID
        connection.socket.sendall(response(message, error))

    def deliver(self, message, destination):
        """Whether an adapter of this guest owns the GID. The multiplexers of other guests call this too."""
        for adapter, table in enumerate(self.tables):
            if destination in table and adapter in self._connections:
                self._directory.learn(message[MAD_TEXT:], message[GID:GID + 16])
                self._connections[adapter].socket.sendall(delivered(message, destination))
                return True
        return False
