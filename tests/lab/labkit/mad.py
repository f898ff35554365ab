# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the destination of a message of the connection manager: QEMU passes a MAD on with its sender's GID only.

A request names its destination. All later messages name the communication ID of their destination, which that side has sent in
a message of its own (InfiniBand Architecture Specification, volume 1, 12.6; Linux, drivers/infiniband/core/cm_msgs.h and
cma.c). Values are big-endian.
"""

import struct

CONNECT_REQUEST, SIDR_REQUEST, SIDR_REPLY = 0x10, 0x17, 0x18
ATTRIBUTE, LOCAL_ID, REMOTE_ID = 16, 24, 28
REQUEST_REMOTE_GID = 96
# In the private data that rdma_cm puts into a SIDR request: its destination's address, IPv4 in the last four bytes.
SIDR_DESTINATION = 24 + 16 + 4 + 16


class Directory:
    """The communication IDs that have been sent, with their owners."""

    def __init__(self):
        self._senders = {}       # communication ID: its owner's GID

    def learn(self, mad, sender):
        self._senders[mad[LOCAL_ID:LOCAL_ID + 4]] = sender

    def destination(self, mad):
        """The GID of the destination; None if it is not known."""
        attribute, = struct.unpack_from("!H", mad, ATTRIBUTE)
        if attribute == CONNECT_REQUEST:
            return mad[REQUEST_REMOTE_GID:REQUEST_REMOTE_GID + 16]
        if attribute == SIDR_REQUEST:
            address = mad[SIDR_DESTINATION:SIDR_DESTINATION + 16]
            return address if any(address[:12]) else bytes(10) + b"\xff\xff" + address[12:]
        at = LOCAL_ID if attribute == SIDR_REPLY else REMOTE_ID
        return self._senders.get(mad[at:at + 4], bytes(16))
