# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds rpm/pvrdma-lab-systemd.rpmspec into the cache, with files that an rpm expects of its distribution and Debian lacks."""

from . import paths
from .cache import Cache, key_of
from .errors import run


def package(cache=None):
    """The path of the rpm."""
    cache = cache or Cache(paths.CACHE)
    spec = paths.RPM / "pvrdma-lab-systemd.rpmspec"

    def build(directory):
        run("building pvrdma-lab-systemd.rpmspec",
            ["rpmbuild", "-bb", "--define", f"_topdir {directory}/build", "--define", f"_sourcedir {paths.RPM}",
             "--define", f"_rpmdir {directory}", "--define", f"_dbpath {directory}/build/db",
             "--define", "_rpmfilename %{NAME}.rpm", "--define", "_buildshell /bin/bash", spec])

    return cache.entry("rpm", key_of(*sorted(paths.RPM.iterdir())), build) / "pvrdma-lab-systemd.rpm"
