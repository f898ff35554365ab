# SPDX-License-Identifier: GPL-2.0-or-later
"""The previous version of the package, from which an upgrade starts, and to which a downgrade goes back.

As long as there is no release, it is a commit of git's history: the last one whose executor had its socket and its configuration
in the daemon's directory, so that an upgrade has to move them. It is built once for each suite and kept in the cache. Without the
history (a shallow clone, an unpacked archive), and for releases whose compiler or libraries are too old or too new for that commit,
it is this version's package with a lower number, which shows in its name; the test then covers scripts and versions, but not the
change of contents.
"""

import shutil
import subprocess

from . import paths
from .cache import Cache, key_of
from .debootstrap import say
from .errors import run

COMMIT = "8f5c0c17e4523c670bbb71d0637368d746f280cd"
LOWER = "~repacked"
BUILT_FOR = ("bookworm", "trixie")


def _in_history():
    argv = ["git", "-c", f"safe.directory={paths.ROOT}", "-C", paths.ROOT, "cat-file", "-e", f"{COMMIT}^{{commit}}"]
    return subprocess.run(argv, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _build(release, directory):
    say(f"building the previous version of the package, of commit {COMMIT[:9]}, for {release} (once)")
    run(f"building the package of commit {COMMIT[:9]}",
        [paths.ROOT / "packaging" / "build-deb", "--suite", release, "--commit", COMMIT, "--output", directory])


def _repack(debs, directory):
    say(f"commit {COMMIT[:9]} cannot be built here: the previous version is this one, with a lower number")
    tree = directory / "tree"
    for deb in debs:
        run(f"unpacking {deb}", ["dpkg-deb", "-R", deb, tree])
        run("lowering its version", ["sed", "-i", f"s/^Version: .*/&{LOWER}/", tree / "DEBIAN" / "control"])
        run(f"packing {deb} again", ["dpkg-deb", "--root-owner-group", "-b", tree, directory])
        shutil.rmtree(tree)


def packages(release, debs, cache=None):
    """The previous version of these packages, for a suite's guests."""
    cache = cache or Cache(paths.CACHE)
    if release in BUILT_FOR and _in_history():
        entry = cache.entry(f"previous-{release}", key_of(COMMIT), lambda directory: _build(release, directory))
    else:
        entry = cache.entry(f"previous-{release}", key_of(LOWER, *debs), lambda directory: _repack(debs, directory))
    return sorted(entry.path.glob("*.deb"))
