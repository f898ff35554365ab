# SPDX-License-Identifier: GPL-2.0-or-later
"""The previous version of the package, from which an upgrade starts, and to which a downgrade goes back.

It is this version's package with a lower number, which shows in its name; the test then covers scripts and versions, but not a
change of contents. With PVRDMA_LAB_PREVIOUS=history it is a commit of git's history, as long as there is no release: the last one
whose executor had its socket and its configuration in the daemon's directory, so that an upgrade has to move them. That one is
built for the guest's suite, which takes minutes, and kept in the cache.
"""

import os
import shutil

from . import paths
from .cache import Cache, key_of
from .debootstrap import say
from .errors import run

COMMIT = "8f5c0c17e4523c670bbb71d0637368d746f280cd"
LOWER = "~repacked"


def _build(release, directory):
    say(f"building the previous version of the package, of commit {COMMIT[:9]}, for {release}")
    run(f"building the package of commit {COMMIT[:9]}",
        [paths.ROOT / "packaging" / "build-deb", "--suite", release, "--commit", COMMIT, "--output", directory])


def _repack(debs, directory):
    tree = directory / "tree"
    for deb in debs:
        run(f"unpacking {deb}", ["dpkg-deb", "-R", deb, tree])
        run("lowering its version", ["sed", "-i", f"s/^Version: .*/&{LOWER}/", tree / "DEBIAN" / "control"])
        run(f"packing {deb} again", ["dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, directory])
        shutil.rmtree(tree)


def packages(release, debs, cache=None):
    """The previous version of these packages, for a suite's guests."""
    cache = cache or Cache(paths.CACHE)
    if os.environ.get("PVRDMA_LAB_PREVIOUS") == "history":
        entry = cache.entry(f"previous-{release}", key_of(COMMIT), lambda directory: _build(release, directory))
    else:
        entry = cache.entry(f"previous-{release}", key_of(LOWER, *debs), lambda directory: _repack(debs, directory))
    return sorted(entry.path.glob("*.deb"))
