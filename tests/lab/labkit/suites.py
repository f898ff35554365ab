# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests' distributions, with the packages of each image. A further suite needs only an entry here."""

from dataclasses import dataclass, field

# Packages of every guest: a plain, small Debian, the RDMA user space, network managers (at rest), and the tools that
# scenarios use (gojq, because jq 1.6 takes an emulated CPU a third of a second to start). The guest has no network, so all
# dependencies of the agent's package must be named here.
COMMON = """
systemd systemd-sysv udev kmod linux-image-amd64 busybox-static zstd dbus apt procps less
iproute2 iputils-ping rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest network-manager
strace gojq socat python3-minimal libpython3-stdlib libarchive-tools pciutils sosreport
libstdc++6 libsystemd0 libudev1 libkmod2 libnl-3-200 libnl-route-3-200 libibverbs1
""".split()
# Libraries of the agent whose packages have their version in the name, in Debian 12 and in Debian 13.
LIBRARIES_12 = "libfmt9 libspdlog1.10".split()
LIBRARIES_13 = "libfmt10 libspdlog1.15".split()
# For suites in which few scenarios run: what a boot, the driver and these scenarios need.
SMALL = """
systemd systemd-sysv udev kmod linux-image-amd64 busybox-static zstd dbus mount passwd login bsdutils util-linux procps less
iproute2 iputils-ping rdma-core ibverbs-providers ibverbs-utils perftest
libstdc++6 libsystemd0 libudev1 libkmod2 libnl-3-200 libnl-route-3-200 libibverbs1
""".split()
# Further packages of Debian guests; guests of the Enterprise Linux family have others for their boot and their packages.
DEBIAN = "initramfs-tools netplan.io ifupdown".split()
ENTERPRISE = "dracut rpm".split()
SELINUX = ["selinux-policy-default"]  # used only where the kernel's command line says so


@dataclass(frozen=True)
class Suite:
    name: str                # no other suite's name may begin with it and a dash (cache.py)
    release: str             # of Debian, from which the packages are
    packages: tuple          # of the guest
    form: str = field(default="deb", repr=False)  # of the agent's package: deb, rpm; no part of the image, nor of its key


SUITES = {suite.name: suite for suite in (
    Suite("bookworm", "bookworm", (*COMMON, *LIBRARIES_12, *DEBIAN, *SELINUX)),
    Suite("trixie", "trixie", (*COMMON, *LIBRARIES_13, *DEBIAN)),
    # Linux 5.10 and systemd 247. Debian 11 has no gojq; finish-rootfs gives its jq that name.
    Suite("bullseye", "bullseye", (*SMALL, "initramfs-tools", "jq", "libarchive13")),
    # The next Debian, which has the newest kernel and systemd at hand, and dracut by default, whose images need the switch_root
    # of util-linux-extra.
    Suite("forky", "forky", (*SMALL, "dracut", "gojq", "libarchive13t64", "util-linux-extra")),
    # This is not Enterprise Linux, whose packages Debian lacks, but has parts of it at about the same versions.
    Suite("dracut", "bookworm", (*COMMON, *LIBRARIES_12, *ENTERPRISE), "rpm"),
)}
DEFAULT = "bookworm"
