# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache outside the tree: images, modules, installed guests, the stand-in; each entry a directory KIND-KEY.

Invariants: an entry that exists is complete (built as KIND-KEY.part, then renamed); one process at a time builds a
key, others wait for it; an entry in use (shared lock held) is never pruned; lock files are never removed, as a lock
on an unlinked file protects nothing.
"""

import fcntl
import hashlib
import os
import shutil
from pathlib import Path

from .errors import LabError


def key_of(*parts):
    """A short hash of strings, and of files (Path: name, mode and content)."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            mode = "x" if os.access(part, os.X_OK) else "-"
            digest.update(f"{part.name}\0{mode}\0".encode() + part.read_bytes() + b"\0")
        else:
            digest.update(repr(part).encode() + b"\0")
    return digest.hexdigest()[:16]


class Entry:
    """A complete entry, protected from pruning until released (or until the process ends)."""

    def __init__(self, path, lock):
        self.path, self._lock = path, lock

    def __truediv__(self, name):
        return self.path / name

    def release(self):
        self._lock.close()


class Cache:
    def __init__(self, root):
        self.root = Path(root)

    def entry(self, kind, key, build, keep=3):
        """The entry KIND-KEY, made by build(directory) if it is not there; prunes all but the `keep` latest used of its
        kind. No kind may be the beginning of another's, up to a dash: it would count, and prune, the other's entries."""
        path = self.root / f"{kind}-{key}"
        lock = self._lock(path.name)
        try:
            # Check again after each wait for the lock: another process may have built or pruned the entry.
            while True:
                fcntl.flock(lock, fcntl.LOCK_SH)
                if path.is_dir():
                    os.utime(path)
                    break
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not path.is_dir():
                    self._build(path, build)
        except BaseException:
            lock.close()
            raise
        self._prune(kind, keep)
        return Entry(path, lock)

    def _lock(self, name):
        try:
            (self.root / "locks").mkdir(parents=True, exist_ok=True)
            return open(self.root / "locks" / name, "a", encoding="utf-8")
        except PermissionError as error:
            raise LabError(f"opening the lab's cache {self.root}: {error.strerror} "
                           "(use sudo, or set PVRDMA_LAB_CACHE to a directory of yours)") from error

    def _build(self, path, build):
        part = path.with_name(path.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            build(part)
            part.rename(path)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise

    def _prune(self, kind, keep):
        """Entries of this kind beyond the latest `keep`, and the remains of interrupted builds."""
        done, stale = [], []
        for path in self.root.glob(f"{kind}-*"):
            try:
                (stale if path.suffix == ".part" else done).append((path.stat().st_mtime, path))
            except FileNotFoundError:  # another process prunes too
                continue
        done.sort(reverse=True)
        for _, path in done[keep:] + stale:
            with self._lock(path.name.removesuffix(".part")) as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                if not path.exists():  # another process has pruned it meanwhile
                    continue
                # The entry is renamed first, so that an interrupted removal leaves no entry that looks complete.
                doomed = path if path.suffix == ".part" else path.rename(path.with_name(path.name + ".part"))
                shutil.rmtree(doomed, ignore_errors=True)
