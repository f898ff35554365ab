# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of Debian packages for one scenario, which other guests do not have, and of dependencies that the guest's image lacks,
resolved by apt itself."""

from pathlib import Path

from . import host, paths
from .cache import Cache, key_of
from .debootstrap import say
from .errors import run
from .payload import PROGRAMS_SIZE

# apt with this machine's settings and keys, and with the guest's packages instead of this machine's.
CONFIGURATION = """\
Dir "{root}/";
Dir::State::status "{root}/status";
Dir::Etc::parts "/etc/apt/apt.conf.d";
Dir::Etc::trusted "/etc/apt/trusted.gpg";
Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Retries "5";
Acquire::Languages "none";
"""


def _download(release, image, names, directory):
    say(f"downloading {', '.join(names)} for {release} (once)")
    root = directory / "apt"
    for folder in ("etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial"):
        (root / folder).mkdir(parents=True)
    run("reading the guest's list of packages",
        ["debugfs", "-R", f"dump /var/lib/dpkg/status {root}/status", image / "disk.raw"])
    (root / "etc/apt/sources.list").write_text(host.sources(release), encoding="utf-8")
    (root / "apt.conf").write_text(CONFIGURATION.format(root=root), encoding="utf-8")
    apt = ["env", f"APT_CONFIG={root}/apt.conf", "apt-get", "-q", "-y"]
    run("fetching the lists of " + release, [*apt, "update"])
    run("downloading " + ", ".join(names), [*apt, "--download-only", "install", *names])
    for deb in (root / "var/cache/apt/archives").glob("*.deb"):
        deb.rename(directory / deb.name)
    run("cleaning up", ["rm", "-r", root])


def _packages(release, image, names, cache=None):
    """These packages of a release, for guests of this image."""
    cache = cache or Cache(paths.CACHE)
    entry = cache.entry(f"packages-{release}", key_of(image.path.name, (image / "disk.raw").stat().st_mtime_ns, names),
                        lambda directory: _download(release, image, names, directory), keep=8)
    return sorted(entry.path.glob("*.deb"))


def _unpack(debs, directory):
    root, log = directory / "root", directory / "log"
    for folder in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / folder).mkdir(parents=True, exist_ok=True)
        (root / folder).symlink_to(f"usr/{folder}")
    for deb in debs:
        run(f"unpacking {deb.name}", ["bash", "-o", "pipefail", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2" '
                                      "--exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale",
                                      "bash", deb, root], log=log)
    if (modules := root / "usr/lib/python3/dist-packages").is_dir():
        # A maintainer script would compile the Python files; an emulated CPU would take half a minute for those that it
        # imports. If this machine's Python has another version than the guest's, it still does.
        run("compiling Python modules", ["/usr/bin/python3", "-m", "compileall", "-q", "-j", "0", "-s", root, "-p", "/", modules], log=log)
    run("making a file system", ["mke2fs", "-q", "-t", "ext4", "-L", "programs", "-O", "^has_journal", "-d", root,
                                 directory / "programs.ext4", f"{PROGRAMS_SIZE >> 20}M"], log=log)
    run("cleaning up", ["rm", "-r", root])


def programs(release, image, names, cache=None):
    """A file system with the files of these packages, and of dependencies that guests of this image lack."""
    cache = cache or Cache(paths.CACHE)
    debs = _packages(release, image, names, cache)
    entry = cache.entry(f"programs-{release}", key_of(image.path.name, (image / "disk.raw").stat().st_mtime_ns, names, Path(__file__)),
                        lambda directory: _unpack(debs, directory), keep=8)
    return entry.path / "programs.ext4"
