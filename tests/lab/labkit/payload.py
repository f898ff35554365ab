# SPDX-License-Identifier: GPL-2.0-or-later
"""The content of a guest's second disk: the runner, the scenario, its settings and the packages as a plain tar, and after it
the file system of the scenario's programs."""

import io
import os
import shlex
import tarfile
from pathlib import Path

from . import distribution, paths
from .errors import LabError, run

# The size is the same for all guests, because a guest that goes on from a snapshot has seen another payload on its second disk.
# use_programs in guest/lib.sh knows where the tar ends.
SIZE = 64 << 20
PROGRAMS_SIZE = 2 << 30

RUNNER = [paths.GUEST / name for name in ("main", "phase", "lib.sh", "expect.sh", "truth.sh", "race.sh", "boot-times.sh", "initramfs.sh", "pair.sh", "slurm.sh", "guide.sh",
                                          "packages.sh", "host", "watch.py")]
# Variables of the caller's environment that scenarios may use.
PASSED = ("PVRDMA_LAB_RACE_", "PVRDMA_LAB_RELOAD_", "PVRDMA_LAB_SOAK_", "PVRDMA_LAB_ROUNDS", "PVRDMA_LAB_FLOOD_", "PVRDMA_LAB_WORKS", "PVRDMA_LAB_RECORDINGS",
          "PVRDMA_LAB_STARVED")


def find_packages(directory, suite, required):
    """The packages to install in guests of a suite, by their folder of /run/lab: debs, the same for all suites; or rpms, with `system` for those to be
    installed before and `next` for those with a higher release. Debug symbols, sources, and packages for programs that guests
    lack are left out."""
    def listed(pattern):
        return sorted(p for p in directory.glob(pattern)
                      if "-dbgsym_" not in p.name and not p.name.endswith(".src.rpm") and not p.name.startswith(("cockpit-", "vmw-")))

    if suite.form == "deb":
        directory, how = directory / "portable", "build-deb --portable"
        found = {"debs": listed("*.deb")}
    else:
        directory, how = directory / "rpm", "build-rpm"
        found = {"rpms": listed("*.rpm"), "next": listed("next/*.rpm"), "system": [distribution.package()]}
    if required and not found[f"{suite.form}s"]:
        raise LabError(f"no packages in {directory}: build them with packaging/{how}, or name others with --packages")
    return found


def settings(scenario, mode, clone=0, number=1):
    """Shell assignments that guest/main reads."""
    values = {"LAB_MODE": mode, "LAB_CLONE": clone, "LAB_GUEST": number, "LAB_ADAPTERS": scenario.adapters, "LAB_TIMEOUT": scenario.timeout,
              "LAB_BOOTS": scenario.boots, "LAB_START": scenario.start, "LAB_EARLY": "yes" if scenario.early else "",
              "LAB_ALLOW_OOPS": scenario.allow_oops, "LAB_INSTALL": scenario.install}
    values.update((name, value) for name, value in os.environ.items() if name.startswith(PASSED))
    return "".join(f"export {name}={shlex.quote(str(value))}\n" for name, value in values.items())


def write(target, scenario, packages, mode="run", clone=0, number=1, programs: Path = None):
    """Tar it all into `target`: packages are files by the folder of /run/lab they go to. Beside the scenario NAME.sh, a
    folder NAME.d becomes /run/lab/files. The file system of programs follows."""
    with tarfile.open(target, "w", dereference=True) as tar:
        def text(name, content):
            info = tarfile.TarInfo(name)
            data = content.encode()
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))

        for path in RUNNER:
            tar.add(path, path.name)
        tar.add(scenario.path, "scenario.sh")
        text("lab.conf", settings(scenario, mode, clone, number))
        for folder, files in packages.items():
            for file in files:
                tar.add(file, f"{folder}/{file.name}")
        files = scenario.path.with_suffix(".d")
        if files.is_dir():
            tar.add(files, "files")
    if target.stat().st_size > SIZE:
        raise LabError(f"{target}: what the guest is handed is larger than {SIZE >> 20} MiB")
    os.truncate(target, SIZE + PROGRAMS_SIZE)
    if programs:
        run("handing programs to a guest", ["dd", f"if={programs}", f"of={target}", "bs=1M", f"seek={SIZE >> 20}",
                                            "conv=sparse,notrunc", "status=none"])
