# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides whether guests run on KVM or on an emulated CPU. KVM is trusted if a guest of the lab has booted on it."""

import os
import platform

from . import host, paths, payload, scenario as scenarios
from .cache import Cache, key_of
from .debootstrap import say
from .errors import LabError
from .guest import Guest, Start

RECIPE = paths.GUEST / "trial.sh"
# On a KVM that works, the kernel answers a key after two seconds. Where KVM does not get as far as that, its CPU is busy for as
# long as the trial lasts.
SIGN_OF_LIFE = 5


def _boots(image, standin):
    scenario = scenarios.load(RECIPE)
    guest = Guest(scenario, Start(image.path, image / "disk.raw", standin, {}, "kvm"))
    guest.sign_of_life = SIGN_OF_LIFE
    try:
        return guest.run().status == 0
    except LabError:
        return False
    finally:
        guest.close()


def chosen(wanted, image, standin, cache=None):
    """kvm or tcg: the wanted one, or with `auto` the result of a trial boot, which is remembered for this machine."""
    if wanted != "auto":
        return wanted
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"

    def build(directory):
        say("trying KVM (once)")
        (directory / "accel").write_text("kvm" if _boots(image, standin) else "tcg", encoding="ascii")

    cache = cache or Cache(paths.CACHE)
    # Any image will do, as the trial is of the machine.
    key = key_of(platform.release(), host.cpu_model(), host.qemu_version(), RECIPE, *payload.RUNNER)
    return (cache.entry("accel", key, build) / "accel").read_text(encoding="ascii")
