# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest with the agent installed: an overlay on the base image, which the package manager makes in a real boot with
real systemd."""

import os
import shutil
import sys

from . import paths, payload, scenario as scenarios
from .cache import Cache, key_of
from .errors import LabError
from .guest import Guest, Start


def installed(suite, image, packages, standin, accel, cache=None):
    """The cache entry with disk.qcow2 and the install's output; boots a guest if it is not there (once a package)."""
    cache = cache or Cache(paths.CACHE)
    recipe = paths.GUEST / "install.sh"
    files = [file for folder in packages.values() for file in folder]
    # The overlay is useless on an image that was made anew, even by the same recipe, so the image is a part of the key.
    made = (image / "disk.raw").stat().st_mtime_ns

    def build(directory):
        names = ", ".join(file.name for file in files)
        print(f"lab: installing {names} in a guest", file=sys.stderr, flush=True)
        guest = Guest(scenarios.load(recipe), Start(image.path, image / "disk.raw", standin, packages, accel), "install")
        try:
            result = guest.run()
            if result.status:
                raise LabError(f"installing {names} in a guest failed with status {result.status}:\n{result.output}")
            (directory / "output").write_text(result.output, encoding="utf-8")
            shutil.move(guest.disk, directory / "disk.qcow2")
        finally:
            guest.close()

    key = key_of(image.path.name, made, os.environ.get("PVRDMA_LAB_STARVED", ""), recipe, *payload.RUNNER, *files)
    return cache.entry(f"installed-{suite}", key, build, keep=4)
