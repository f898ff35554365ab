# SPDX-License-Identifier: GPL-2.0-or-later
"""The mux on real sockets: registering GIDs, the table in the file, MADs forwarded, broken and split messages."""

import socket
import struct
import tempfile
import unittest

from labkit import mad, mux

GID_A = bytes.fromhex("fe80000000000000025056fffe000010")
GID_B = bytes.fromhex("fe80000000000000025056fffe000011")


def message(operation, gid, destination=bytes(16), kind=mux.REQUEST):
    text = bytearray(mux.MESSAGE)
    struct.pack_into("<ii", text, 0, kind, operation)
    text[mux.GID:mux.GID + 16] = gid
    text[mux.MAD_GID:mux.MAD_GID + 16] = gid
    at = mux.MAD_TEXT
    struct.pack_into("!H", text, at + mad.ATTRIBUTE, mad.CONNECT_REQUEST)
    text[at + mad.LOCAL_ID:at + mad.LOCAL_ID + 4] = b"mine"
    text[at + mad.REQUEST_REMOTE_GID:at + mad.REQUEST_REMOTE_GID + 16] = destination
    text[300:304] = b"body"
    return bytes(text)


def reply(gid, attribute=0x13, local=b"your", remote=b"mine"):
    """A message after a request, for the owner of the ID."""
    text = bytearray(message(mux.MAD, gid))
    at = mux.MAD_TEXT
    struct.pack_into("!H", text, at + mad.ATTRIBUTE, attribute)
    text[at + mad.LOCAL_ID:at + mad.REMOTE_ID + 4] = local + remote
    return bytes(text)


class MuxTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.mux = mux.Mux(self.directory, 2)
        self.addCleanup(self.mux.close)
        self.ends = [self.connect(n) for n in range(2)]

    def connect(self, adapter):
        end = socket.socket(socket.AF_UNIX)
        self.addCleanup(end.close)
        end.settimeout(10)
        end.connect(adapter if isinstance(adapter, str) else f"{self.directory}/{adapter}.mux")
        return end

    def read(self, end):
        data = b""
        while len(data) < mux.MESSAGE:
            part = end.recv(mux.MESSAGE - len(data))
            self.assertTrue(part, "the mux closed the connection")
            data += part
        return data

    def ask(self, end, text):
        end.sendall(text)
        answer = self.read(end)
        self.assertEqual(struct.unpack_from("<i", answer)[0], mux.RESPONSE)
        return struct.unpack_from("<i", answer, mux.ERROR)[0]

    def table(self, adapter):
        with open(f"{self.directory}/{adapter}.gids", "rb") as table:
            data = table.read()
        return [data[i:i + 16] for i in range(0, len(data), 16)]

    def test_registered_gids_start_at_one(self):
        self.assertEqual(self.ask(self.ends[0], message(mux.REGISTER, GID_A)), mux.OK)
        self.assertEqual(self.table(0)[:3], [bytes(16), GID_A, bytes(16)])
        self.assertEqual(self.table(1)[1], bytes(16))
        self.assertEqual(self.ask(self.ends[0], message(mux.UNREGISTER, GID_A)), mux.OK)
        self.assertEqual(self.table(0)[1], bytes(16))

    def test_a_gid_registered_twice_is_one_entry(self):
        for _ in range(2):
            self.assertEqual(self.ask(self.ends[0], message(mux.REGISTER, GID_A)), mux.OK)
        self.assertEqual(self.table(0).count(GID_A), 1)

    def test_unknown_gid(self):
        self.assertEqual(self.ask(self.ends[0], message(mux.UNREGISTER, GID_A)), mux.NO_SUCH_GID)
        self.assertEqual(self.ask(self.ends[0], message(mux.MAD, GID_A, GID_B)), mux.NO_SUCH_GID)

    def test_table_full(self):
        for number in range(1, mux.TABLE_ENTRIES):
            self.assertEqual(self.ask(self.ends[0], message(mux.REGISTER, GID_A[:13] + struct.pack(">BH", 1, number))),
                             mux.OK)
        self.assertEqual(self.ask(self.ends[0], message(mux.REGISTER, GID_B)), mux.TABLE_FULL)

    def test_mad_reaches_the_owner_turned_round(self):
        self.ask(self.ends[0], message(mux.REGISTER, GID_A))
        self.ask(self.ends[1], message(mux.REGISTER, GID_B))
        self.assertEqual(self.ask(self.ends[0], message(mux.MAD, GID_A, GID_B)), mux.OK)
        got = self.read(self.ends[1])
        self.assertEqual(struct.unpack_from("<ii", got), (mux.REQUEST, mux.MAD))
        self.assertEqual(got[mux.GID:mux.GID + 16], GID_B)
        self.assertEqual(got[mux.MAD_GID:mux.MAD_GID + 16], GID_A)
        self.assertEqual(got[300:304], b"body")
        # The owner's answer goes to the mux only.
        self.ends[1].sendall(message(mux.MAD, GID_B, kind=mux.RESPONSE))
        self.assertEqual(self.ask(self.ends[1], message(mux.UNREGISTER, GID_B)), mux.OK)

    def test_what_follows_a_request_goes_by_its_ids(self):
        self.ask(self.ends[0], message(mux.REGISTER, GID_A))
        self.ask(self.ends[1], message(mux.REGISTER, GID_B))
        self.assertEqual(self.ask(self.ends[1], reply(GID_B)), mux.NO_SUCH_GID)
        self.assertEqual(self.ask(self.ends[0], message(mux.MAD, GID_A, GID_B)), mux.OK)
        self.read(self.ends[1])
        self.assertEqual(self.ask(self.ends[1], reply(GID_B)), mux.OK)
        self.assertEqual(self.read(self.ends[0])[mux.MAD_GID:mux.MAD_GID + 16], GID_B)
        self.assertEqual(self.ask(self.ends[0], reply(GID_A, 0x14, b"mine", b"your")), mux.OK)
        self.assertEqual(self.read(self.ends[1])[mux.MAD_GID:mux.MAD_GID + 16], GID_A)
        self.assertEqual(self.ask(self.ends[1], reply(GID_B, mad.SIDR_REPLY, b"mine", b"\0\0\0\0")), mux.OK)
        self.read(self.ends[0])

    def test_a_mad_for_another_guest(self):
        with tempfile.TemporaryDirectory() as directory:
            other = mux.Mux(directory, 1)
            try:
                self.mux.peers.append(other)
                end = self.connect(f"{directory}/0.mux")
                self.ask(end, message(mux.REGISTER, GID_B))
                self.assertEqual(self.ask(self.ends[0], message(mux.MAD, GID_A, GID_B)), mux.OK)
                self.assertEqual(self.read(end)[mux.GID:mux.GID + 16], GID_B)
            finally:
                other.close()

    def test_a_datagram_request_goes_by_its_address(self):
        text = bytearray(mux.MESSAGE)
        struct.pack_into("!H", text, mad.ATTRIBUTE, mad.SIDR_REQUEST)
        text[mad.SIDR_DESTINATION + 12:mad.SIDR_DESTINATION + 16] = bytes((192, 168, 30, 2))
        self.assertEqual(mad.Directory().destination(text).hex(), "00000000000000000000ffffc0a81e02")

    def test_a_message_in_pieces_and_two_at_once(self):
        text = message(mux.REGISTER, GID_A)
        self.ends[0].sendall(text[:100])
        self.ends[0].sendall(text[100:] + message(mux.REGISTER, GID_B))
        self.read(self.ends[0])
        self.read(self.ends[0])
        self.assertEqual(self.table(0)[1:3], [GID_A, GID_B])

    def test_a_new_connection_takes_over(self):
        self.ask(self.ends[1], message(mux.REGISTER, GID_B))
        self.ends[1].close()
        later = self.connect(1)
        self.ask(later, message(mux.REGISTER, GID_B))
        self.assertEqual(self.ask(self.ends[0], message(mux.MAD, GID_A, GID_B)), mux.OK)
        self.assertEqual(self.read(later)[mux.GID:mux.GID + 16], GID_B)


if __name__ == "__main__":
    unittest.main()
