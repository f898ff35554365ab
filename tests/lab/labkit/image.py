# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests' base image: a suite's packages, vmw_pvrdma built for its kernel, the lab's runner; works from nothing.

Two cache entries: module-RELEASE-KEY (vmw_pvrdma.ko and pvrdma_late.ko for one kernel) and image-SUITE-KEY (disk.raw,
kernel, initrd.lab), so that entries of one suite never replace those of another. A key covers the recipe, not the versions
that a mirror has: remove the cache to get newer ones.
"""

import shutil
from pathlib import Path

from . import debootstrap, host, paths
from .cache import Cache, key_of
from .debootstrap import extend, inside, say, unpack
from .errors import run

DISK_SIZE = "5G"
# The distributions' hooks for kernels read this setting: they make no initrd, as the guest boots from the lab's own.
NO_INITRAMFS = {"INITRD": "No"}

# The package vmw-pvrdma-dkms builds the driver by these files, too.
DRIVER_FILES = [paths.DRIVER / name for name in ("Makefile", "take-source")]
# The lab's files in the image; all others come to the guest on its second disk (payload.py).
GUEST_FILES = [paths.GUEST / name for name in ("lab-start", "lab-early.service", "lab-runner.service")]


def module(cache, release, root, kernel):
    """The entry with vmw_pvrdma.ko and pvrdma_late.ko for the kernel of this unpacked root, in a copy of which they are built."""
    recipes = [paths.IMAGE / "build-module", paths.IMAGE / "pvrdma_late.c", *DRIVER_FILES]

    def build(directory):
        say(f"building vmw_pvrdma for Linux {kernel}")
        copy, log = directory / "root", directory / "build.log"
        extend(root, [f"linux-headers-{kernel}", "linux-source", "make", "xz-utils"], copy, log)
        inside(f"building vmw_pvrdma for Linux {kernel}", copy, ["/recipe/build-module", kernel], log,
               "--ro-bind", paths.IMAGE, "/recipe", "--ro-bind", paths.DRIVER, "/driver")
        for name in ("vmw_pvrdma.ko", "pvrdma_late.ko"):
            shutil.copy(copy / name, directory / name)
        shutil.rmtree(copy)

    return cache.entry(f"module-{release}", key_of(kernel, *recipes), build)


def base(suite, cache=None):
    """The entry with the base image of a suite, built if it is not there (minutes, once)."""
    cache = cache or Cache(paths.CACHE)
    key = key_of(suite, DISK_SIZE, Path(__file__), Path(debootstrap.__file__), *sorted(paths.IMAGE.iterdir()), *DRIVER_FILES, *GUEST_FILES)
    return cache.entry(f"image-{suite.name}", key, lambda directory: _build_base(cache, suite, directory))


def _build_base(cache, suite, directory):
    host.need_root("building a guest image")
    say(f"building the {suite.name} guest image (once, a few minutes)")
    root = directory / "root"
    unpack(suite.release, suite.packages, root, directory / "mmdebstrap.log", "--variant=apt", environment=NO_INITRAMFS)
    kernel = max(p.name for p in (root / "lib/modules").iterdir())
    driver = module(cache, suite.release, root, kernel)
    run("preparing the guest's root file system",
        [paths.IMAGE / "finish-rootfs", root, driver.path, kernel, paths.GUEST], log=directory / "finish.log")
    run("making the lab's initrd", [paths.IMAGE / "make-initrd", root, kernel, directory / "initrd.lab"])
    run("unpacking the kernel", [paths.IMAGE / "extract-kernel", root / f"boot/vmlinuz-{kernel}", directory / "kernel"])
    # With initramfs-tools at work an emulated guest would take minutes for a new initramfs each time that a package which
    # concerns it is installed.
    (root / f"boot/vmlinuz-{kernel}").unlink()
    run("making the guest's disk", ["truncate", "-s", DISK_SIZE, directory / "disk.raw"])
    run("making the guest's disk", ["mkfs.ext4", "-q", "-F", "-L", "root", "-d", root, directory / "disk.raw"])
    shutil.rmtree(root)
    say(f"guest image ready: {suite.name}, Linux {kernel}")
