# SPDX-License-Identifier: GPL-2.0-or-later
"""The fabric between guests, on real sockets: frames, messages by GID, delay, rate, loss; and the first guest's shell."""

import socket
import struct
import tempfile
import time
import unittest

from labkit import fabric
from labkit.company import Room
from labkit.scenario import PORT_STATES

GIDS = [bytes(15) + bytes((n,)) for n in (1, 2, 3)]


class Ports:
    def __init__(self):
        self.now = PORT_STATES["ACTIVE"]

    def state(self, _adapter):
        return self.now


def rdma(source, target, kind=fabric.RC, payload=b"body"):
    return fabric.MESSAGE.pack(kind, len(payload), source, target, 5, 6, 77, 0, 0, 0, 0, 0) + payload


class FabricTest(unittest.TestCase):
    def setUp(self):
        self.fabric = fabric.Fabric()
        self.ports = [Ports() for _ in GIDS]
        folders = []
        for number, gid in enumerate(GIDS, 1):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            folders.append(folder.name)
            self.fabric.join(number, folder.name, [[gid]], self.ports[number - 1])
        self.fabric.start()
        self.addCleanup(self.fabric.close)
        self.wires = [self.connect(f"{folder}/fabric") for folder in folders]
        self.nets = [self.connect(f"{folder}/0.net") for folder in folders]
        for number in range(len(GIDS)):  # The fabric has accepted all once each gets a frame of the last one.
            self.fabric_knows(number)

    def connect(self, path):
        end = socket.socket(socket.AF_UNIX)
        self.addCleanup(end.close)
        end.settimeout(10)
        end.connect(path)
        return end

    def fabric_knows(self, number):
        deadline = time.monotonic() + 10
        while len(self.fabric._connections) < 2 * len(GIDS) and time.monotonic() < deadline:
            time.sleep(0.001)
        self.assertEqual(len(self.fabric._connections), 2 * len(GIDS), number)

    def read(self, end, length):
        data = b""
        while len(data) < length:
            part = end.recv(length - len(data))
            self.assertTrue(part, "the fabric closed the connection")
            data += part
        return data

    def is_silent(self, end):
        end.settimeout(0.1)
        try:
            return not end.recv(1)
        except TimeoutError:
            return True
        finally:
            end.settimeout(10)

    def test_a_frame_goes_to_all_others(self):
        frame = struct.pack("!I", 5) + b"frame"
        self.nets[0].sendall(frame[:3])
        self.nets[0].sendall(frame[3:])
        self.assertEqual([self.read(end, len(frame)) for end in self.nets[1:]], [frame, frame])
        self.assertEqual((self.fabric.paths["net"].carried, self.fabric.paths["rdma"].carried), (len(frame), 0))
        self.assertTrue(self.is_silent(self.nets[0]))

    def test_a_message_goes_to_whose_gid_it_is(self):
        message = rdma(GIDS[0], GIDS[2])
        self.wires[0].sendall(message)
        self.assertEqual(self.read(self.wires[2], len(message)), message)
        self.assertEqual(self.fabric.paths["rdma"].carried, len(message))
        self.assertTrue(self.is_silent(self.wires[1]))

    def test_delay_and_rate(self):
        self.fabric.paths["rdma"].delay, self.fabric.paths["rdma"].rate = 0.1, 1e6
        message = rdma(GIDS[0], GIDS[1], payload=bytes(100_000))
        started = time.monotonic()
        self.wires[0].sendall(message * 2)
        self.read(self.wires[1], 2 * len(message))
        self.assertGreaterEqual(time.monotonic() - started, 0.3)

    def fails(self, message):
        self.wires[0].sendall(message)
        fields = fabric.MESSAGE.unpack(self.read(self.wires[0], fabric.MESSAGE.size))
        self.assertEqual(fields[fabric.KIND], fabric.ANSWER)
        self.assertEqual(fields[fabric.STATUS], fabric.RETRY_EXCEEDED)
        self.assertEqual((fields[fabric.TO_QPN], fields[fabric.SERIAL]), (5, 77))

    def test_what_is_lost_fails_at_its_sender(self):
        self.fabric.paths["rdma"].lost = True
        self.fails(rdma(GIDS[0], GIDS[1]))
        self.fabric.paths["rdma"].lost = False
        self.ports[1].now = PORT_STATES["DOWN"]
        self.fails(rdma(GIDS[0], GIDS[1]))
        self.fails(rdma(GIDS[0], bytes(15) + b"?"))
        self.assertTrue(self.is_silent(self.wires[1]))

    def test_a_lost_answer_becomes_a_failure(self):
        self.fabric.paths["rdma"].lost = True
        self.wires[1].sendall(rdma(GIDS[1], GIDS[0], fabric.ANSWER, b""))
        fields = fabric.MESSAGE.unpack(self.read(self.wires[0], fabric.MESSAGE.size))
        self.assertEqual(fields[fabric.STATUS], fabric.RETRY_EXCEEDED)

    def test_a_lost_datagram_is_lost(self):
        self.ports[0].now = PORT_STATES["DOWN"]
        self.wires[0].sendall(rdma(GIDS[0], GIDS[1], fabric.UD))
        self.assertTrue(self.is_silent(self.wires[1]))


class RoomTest(unittest.TestCase):
    def setUp(self):
        self.room, self.heard = Room(2), []

    def request(self, guest, line):
        return self.room.request(guest, line, lambda text: self.heard.append((guest, text)))

    def test_a_command_its_output_and_the_end(self):
        self.assertTrue(self.request(2, "next"))
        self.assertTrue(self.request(1, "on 2 Y29tbWFuZA=="))
        self.assertEqual(self.heard, [(2, "ok Y29tbWFuZA==")])
        self.assertTrue(self.request(2, "said 3 b3V0"))
        self.assertEqual(self.heard[1:], [(2, "ok"), (1, "ok 3 b3V0")])
        self.assertTrue(self.request(2, "next"))
        self.room.leave(1)
        self.assertEqual(self.heard[3:], [(2, "ok")])

    def test_a_guest_that_ends_is_waited_for_no_longer(self):
        self.request(1, "on 2 Y29tbWFuZA==")
        self.room.leave(2)
        self.request(1, "on 2 Y29tbWFuZA==")
        self.assertEqual(self.heard, [(1, "error guest 2 has ended"), (1, "error there is no guest 2")])

    def test_others_requests_are_not_ours(self):
        self.assertFalse(self.request(1, "port 0 DOWN"))
        self.assertFalse(self.request(2, "on 1 Y29tbWFuZA=="))


if __name__ == "__main__":
    unittest.main()
