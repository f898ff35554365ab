# SPDX-License-Identifier: GPL-2.0-or-later
"""watch.py SECONDS [FILE]: asks the agent for its verdict so often, and compares it with sysfs, which it reads
four times a second or as often. FILE has the last verdict, or `none` without an answer.

A verdict has three seconds to follow a change. Prints each verdict that contradicts; ended by SIGTERM, the number of verdicts.
"""

import glob
import json
import os
import signal
import socket
import sys
import time

DEVICES = "/sys/bus/pci/devices"


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def links():
    """Flags and carrier changes of the adapters' links: a port that was ACTIVE only between two looks leaves its trace there."""
    try:
        return [read(path) for name in ("flags", "carrier_changes") for path in sorted(glob.glob(f"{DEVICES}/*.0/net/*/{name}"))]
    except OSError:
        return None


def truth():
    """The number of adapters, whether the driver is loaded and each port ACTIVE, and what links() says."""
    found = [path.rpartition("/")[0] for path in glob.glob(f"{DEVICES}/*.1/vendor") if read(path) == "0x15ad"]
    try:
        ports = [read(glob.glob(f"{device}/infiniband/*/ports/1/state")[0]) for device in found]
        good = bool(found) and read("/sys/module/vmw_pvrdma/initstate") == "live" and set(ports) == {"4: ACTIVE"}
    except (OSError, IndexError):
        good = False
    return len(found), good, links()


def verdict():
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(20)
        agent.connect("/run/pvrdma-agent/io.pvrdma.Agent")
        agent.sendall(b'{"method":"io.pvrdma.Agent.GetHealth"}\0')
        answer = b""
        while not answer.endswith(b"\0"):
            part = agent.recv(65536)
            if not part:
                return None
            answer += part
    return json.loads(answer[:-1])["parameters"].get("health")


def contradicts(health, adapters, good):
    state = health["state"]
    if state == "unknown":  # which no look refutes
        return False
    return len(health["adapters"]) != adapters or (state in ("absent", "failed") if good else state == "ready")


def keep(state, path):
    with open(f"{path}.new", "w", encoding="ascii") as file:
        print(state, file=file)
    os.replace(f"{path}.new", path)


def main(interval, path=None):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    verdicts, seen, since, asked = 0, truth(), time.monotonic(), 0.0
    try:
        while True:
            health, before = None, truth()
            if time.monotonic() - asked >= interval:
                asked = time.monotonic()
                try:
                    health = verdict()
                except (OSError, ValueError, KeyError):
                    pass  # the daemon is about to start again
                if path:
                    keep(health["state"] if health else "none", path)
            now = truth()
            # A state that was there for a moment, which only the daemon saw, is a change as well.
            if not seen == before == now:
                seen, since = now, time.monotonic()
            elif health and time.monotonic() - since > 3:
                verdicts += 1
                if contradicts(health, *now[:2]):
                    names = " ".join(finding["id"] for finding in health["findings"])
                    print(f"{time.monotonic():.1f} s: {health['state']} ({names}) of {health['observed_ms_ago']} ms ago, "
                          f"{len(health['adapters'])} adapters; sysfs has {now[0]}, {'all' if now[1] else 'not all'} ACTIVE", flush=True)
            time.sleep(min(interval, 0.25))
    finally:
        print(f"{verdicts} verdicts", flush=True)


main(float(sys.argv[1]), *sys.argv[2:])
