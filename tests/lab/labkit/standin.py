# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles the HCA stand-in (hca/), the library that replaces libibverbs in the QEMU process, into the cache.

hca/sources and hca/cflags list the files and the compiler options; hca/meson.build reads them as well.
"""

from . import paths
from .cache import Cache, key_of
from .errors import run

LIBRARY = "pvrdma-hca-standin.so"


def _listed(name):
    lines = (paths.HCA / name).read_text(encoding="ascii").splitlines()
    return [word for line in lines for word in line.split("#")[0].split()]


def library(cache=None):
    cache = cache or Cache(paths.CACHE)
    sources = [paths.HCA / name for name in _listed("sources")]
    headers = sorted(paths.HCA.glob("*.h"))
    cflags = _listed("cflags")

    def build(directory):
        run("compiling the HCA stand-in",
            ["cc", "-O2", "-g", "-shared", "-fPIC", "-pthread", *cflags, "-o", directory / LIBRARY, *sources])

    return cache.entry("hca", key_of(cflags, *sources, *headers), build) / LIBRARY
