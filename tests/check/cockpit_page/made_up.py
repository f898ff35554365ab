# SPDX-License-Identifier: GPL-2.0-or-later
"""A health object that the real agent never sends: every state and severity, long words, and text with HTML."""

HOSTILE = ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "</p><b>bold</b>", "javascript:alert(3)"]
LONG = "a-name-without-end-" * 12
REMOVED = ["0000:33:00.1", "0000:3b:00.1"]


def _adapter(number, state, **other):
    return {"function": f"0000:{number:02x}:00.1", "net_function": f"0000:{number:02x}:00.0", "state": state, "driver": "vmw_pvrdma",
            "rdma_device": f"rocep{number}s0f1", "aliases": ["vmw_pvrdma0"], "uverbs": "uverbs0", "node_guid": None,
            "rdma_netdev": f"ens{number}f0", "netdev": f"ens{number}f0", "mac": "00:50:56:8a:9f:c2", "mtu": 9000, "link_up": True,
            "carrier": True, "operstate": "up", "managed_by": "agent", "addresses": ["192.168.30.201/24", "fd00::1/64"],
            "port": {"state": "ACTIVE", "phys_state": "LINK_UP", "active_mtu": 1024, "link_layer": "Ethernet"}, "gids": [],
            "application_gid": {"address": "192.168.30.201", "gid": "::ffff:192.168.30.201", "index": 1, "type": "RoCE v2"},
            "gid_moves": 0, "transitions": 3, "last_change": "2026-11-21T02:31:43Z", "unreadable": [], **other}


def _finding(name, severity, actor, summary, remedy, adapter=None, holders=(), values=None):
    return {"id": name, "severity": severity, "actor": actor, "adapter": adapter, "summary": summary, "remedy": remedy,
            "evidence": {"holders": list(holders), "values": values or {}}}


def _removed(function, names):
    """As the agent sends it (agent/plan/findings.cpp): `adapter` is null, and the value of that name begins with the function."""
    known_as = f"{function} ({names})" if names else function
    return _finding("adapter-removed", "warning", "host", f"Adapter {known_as} was removed from this VM at 2026-11-21T02:31:43Z.",
                    "Connect it again in vSphere.",
                    values={"adapter": known_as, "time": "2026-11-21T02:31:43Z", "patience": "86400 s"})


HEALTH = {
    "version": 1, "state": "degraded", "since": "2026-11-21T02:31:43Z", "observed_ms_ago": 1200,
    "summary": f"1 of 4 adapters ready {HOSTILE[2]}",
    "adapters": [
        _adapter(19, "ready"),
        _adapter(27, "failed", port={"state": "DOWN", "phys_state": None, "active_mtu": None, "link_layer": None},
                 application_gid=None, addresses=[], unreadable=["port.phys_state: Input/output error"]),
        _adapter(35, "converging", driver=None, rdma_device=None, port=None, application_gid=None, aliases=[], managed_by="master"),
        _adapter(43, "degraded", netdev=LONG, managed_by=HOSTILE[3], last_change="<b>never</b>"),
    ],
    "findings": [
        _finding("first-nic", "info", "host", "The VM's first NIC is a PVRDMA adapter.", "Give the VM a regular one first."),
        _finding("driver-in-use", "warning", "agent", "The driver is to be reloaded, but processes have an adapter open.",
                 "Stop them; the agent goes on by itself.",
                 holders=[{"pid": 812, "command": HOSTILE[0], "rdma_device": "rocep19s0f1"}, {"pid": 9, "command": "", "rdma_device": LONG}]),
        _finding("port-down", "error", "host", f"The port of 0000:1b:00.1 is DOWN {HOSTILE[1]}",
                 "esxcli system settings advanced set -o /Net/PVRDMAVmknic -s vmk0", adapter="0000:1b:00.1"),
        _removed(REMOVED[0], f"{LONG}, 00:50:56:8a:9f:c2"),
        _removed(REMOVED[1], ""),
        _finding("of-a-later-version", "warning", "robot", "A finding that the page does not know.", ""),
    ],
    "executor": {"busy": {"call": "LoadModule mlx4_ib", "for_ms": 45000, "stuck": True}, "reloads": 2, "rebinds": 1},
}
