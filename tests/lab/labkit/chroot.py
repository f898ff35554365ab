# SPDX-License-Identifier: GPL-2.0-or-later
"""Clean chroots of a suite, in which packages are built and checked; from the machine's own mirror, cached.

Kinds: `build` has only build-essential, this tree's Build-Depends, and ccache, which compiles nothing itself; `check` also
has the packages that checks need, `gcc-VERSION` that compiler and those of the unit tests. A command runs in its chroot read-only and without network, so that the cached chroot
stays clean:

    /build    the only folder to write to, a folder of the caller's choice
    /tree     this tree, read-only

Packages that are built in the chroot of PORTABLE run on all later systems. That suite lacks some of the build dependencies, or
has too old ones; they are unpacked from the packages of the next suite. They are scripts and headers, which suit any release (of
fmt and spdlog only headers are used).
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from . import debootstrap, host, paths
from .cache import Cache, key_of
from .errors import LabError

CONTROL = paths.ROOT / "packaging" / "debian" / "control"
PORTABLE, NEXT = "bullseye", "bookworm"
FROM_NEXT = ("libcli11-dev", "libfmt-dev", "libspdlog-dev", "libtoml11-dev", "meson")
# meson depends on ninja-build; rpm builds the portable rpm.
BUILD = {PORTABLE: ("ccache", "ninja-build", "rpm")}
UNIT_TESTS = ("catch2", "iproute2", "iputils-ping", "systemd")
ADDED = {"build": (), "check": (*UNIT_TESTS, "lintian", "man-db"), "gcc-11": (*UNIT_TESTS, "g++-11"), "gcc-16": (*UNIT_TESTS, "g++-16")}
MOUNT_POINTS = ("build", "tree", "ccache")
INSTALL = """set -e
export DEBIAN_FRONTEND=noninteractive
cd /tmp/wanted
apt-get -y --no-install-recommends build-dep .
[ "$*" ] || exit 0
mv next.list /etc/apt/sources.list.d/
apt-get -q update
apt-get -q download "$@"
for deb in *.deb; do dpkg-deb -x "$deb" /; done
rm /etc/apt/sources.list.d/next.list
"""


def build_depends(control):
    """The Build-Depends field of a control file, on which alone a chroot depends."""
    found = re.search(r"^Build-Depends:.*\n(?:[ \t].*\n)*", Path(control).read_text(encoding="utf-8"), re.M)
    if not found:
        raise LabError(f"{control}: has no field Build-Depends")
    return found[0]


def _recipe(suite, depends):
    """The packages of a build chroot: those to install beside build-essential, Build-Depends, and those of the next suite."""
    added = BUILD.get(suite, ("ccache",))
    if suite != PORTABLE:
        return added, depends, ()
    here = [line for line in depends.splitlines(keepends=True) if not line.startswith(tuple(f" {name}" for name in FROM_NEXT))]
    return added, "".join(here), FROM_NEXT


def _unpack(suite, depends, directory):
    root = directory / "root"
    added, depends, from_next = _recipe(suite, depends)
    with tempfile.TemporaryDirectory() as source:
        wanted = Path(source) / "wanted"
        (wanted / "debian").mkdir(parents=True)
        (wanted / "debian/control").write_text(f"Source: wanted\n{depends}\nPackage: wanted\nArchitecture: any\n", encoding="utf-8")
        (wanted / "next.list").write_text(host.sources(NEXT), encoding="utf-8")
        (wanted / "install").write_text(INSTALL, encoding="utf-8")
        debootstrap.unpack(suite, added, root, directory / "mmdebstrap.log", "--variant=buildd",
                           f"--customize-hook=copy-in {wanted} /tmp",
                           f"--customize-hook=chroot \"$1\" sh /tmp/wanted/install {' '.join(from_next)}",
                           "--customize-hook=rm -r \"$1/tmp/wanted\"")
    for name in MOUNT_POINTS:
        (root / name).mkdir()


def chroot(suite, kind="build", cache=None):
    """The cache entry with root/, unpacked if it is not there (a minute, once)."""
    cache = cache or Cache(paths.CACHE)
    depends = build_depends(CONTROL)

    def build(directory):
        debootstrap.say(f"unpacking a {kind} chroot of {suite} (once, a minute)")
        if kind == "build":
            _unpack(suite, depends, directory)
            return
        grow(suite, ADDED[kind], directory, cache)

    key = key_of(suite, _recipe(suite, depends), ADDED[kind], MOUNT_POINTS, INSTALL, Path(debootstrap.__file__))
    return cache.entry(f"chroot-{suite}-{kind}", key, build)


def grow(suite, packages, directory, cache=None):
    """directory/root: a build chroot with these packages too."""
    entry = chroot(suite, "build", cache)
    try:
        debootstrap.extend(entry / "root", packages, directory / "root", directory / "apt.log")
    finally:
        entry.release()


def run(suite, kind, folder, command):
    """Runs the command as root in /build, which is `folder`; returns its exit status. Its output goes to this process's."""
    entry = chroot(suite, kind)
    # Each suite has its own compiler cache, as compilers and versions of ccache differ.
    ccache = paths.CACHE / "ccache" / suite
    ccache.mkdir(parents=True, exist_ok=True)
    try:
        return subprocess.run(
            ["bwrap", "--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
             # Tests make network namespaces of their own.
             "--cap-add", "ALL",
             "--ro-bind", entry / "root", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/sys", "/sys",
             "--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run",
             "--ro-bind", paths.ROOT, "/tree", "--bind", folder, "/build", "--bind", ccache, "/ccache",
             "--chdir", "/build", "--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin:/sbin:/bin",
             "--setenv", "HOME", "/tmp", "--setenv", "LC_ALL", "C.UTF-8",
             "--setenv", "CCACHE_DIR", "/ccache", "--setenv", "CCACHE_NOHASHDIR", "1",
             "--setenv", "CCACHE_SLOPPINESS", "locale", "--", *command],
            check=False).returncode
    except OSError as error:
        raise LabError(f"starting bwrap: {os.strerror(error.errno)}") from error
    finally:
        entry.release()
