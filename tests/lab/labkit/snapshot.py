# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that has booted without its adapters and was stopped; scenarios with `start: snapshot` go on from it.

The snapshot's machine has no adapters, so no driver has been loaded for them, and the agent has not run. The machine that
goes on has those of its scenario, of which the snapshot says nothing: QEMU leaves them as they are at power-on. When the
scenario begins, the guest looks for them, and the agent is started. So one snapshot serves any number of adapters and networks,
and guests with MAC addresses of their own. (QEMU saves no state of a pvrdma device in a snapshot.)
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from . import host, machine, paths, payload, scenario as scenarios
from .cache import Cache, key_of
from .errors import LabError
from .guest import Guest

RECIPE = paths.GUEST / "snapshot.sh"


def start(suite, scenario, begin, cache=None):
    """The snapshot of a guest that starts from `begin`; boots a guest if there is none."""
    cache = cache or Cache(paths.CACHE)
    topology = scenario.topology()
    # Memory and disk belong together: a disk that was made anew, even from the same packages, has another content.
    made = begin.disk.stat().st_mtime_ns
    key = key_of(topology, str(begin.disk), made, begin.accel, begin.standin, host.qemu_version(),
                 RECIPE, Path(machine.__file__), *payload.RUNNER)

    def build(directory):
        print(f"lab: a snapshot of {suite} with {topology}", file=sys.stderr, flush=True)
        recipe = scenarios.load(RECIPE)
        for name, value in topology.items():
            setattr(recipe, name, value)
        guest = Guest(recipe, begin, "snapshot")
        try:
            result = guest.run()
            if result.status:
                raise LabError(f"taking a snapshot failed with status {result.status}:\n{result.output}")
            for path in (guest.disk, guest.memory, guest.state):
                shutil.move(path, directory / path.name)
        finally:
            guest.close()

    entry = cache.entry(f"snapshot-{suite}", key, build, keep=16)
    return replace(begin, disk=entry / "disk.qcow2", snapshot=entry.path), entry
