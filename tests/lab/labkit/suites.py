# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests' distributions: what goes into an image of each. An entry is all that a further suite needs."""

from dataclasses import dataclass, field

# What any guest has: a plain, small Debian, the RDMA user space, network managers (at rest), and the tools that
# scenarios use (gojq: jq 1.6 takes a third of a second of an emulated CPU to begin). The guest has no network: whatever
# the agent's package depends on must be named here.
COMMON = """
systemd systemd-sysv udev kmod linux-image-amd64 busybox-static zstd dbus apt procps less
iproute2 iputils-ping rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest network-manager
strace gojq socat python3-minimal libpython3-stdlib libarchive-tools pciutils sosreport
libstdc++6 libsystemd0 libudev1 libkmod2 libnl-3-200 libnl-route-3-200 libibverbs1
""".split()
# Libraries of the agent's whose packages are named by their version: Debian 12's, Debian 13's.
LIBRARIES_12 = "libfmt9 libspdlog1.10".split()
LIBRARIES_13 = "libfmt10 libspdlog1.15".split()
# What Debian adds to that, and what guests of the Enterprise Linux family do their boot and their packages with instead.
DEBIAN = "initramfs-tools netplan.io ifupdown".split()
ENTERPRISE = "dracut rpm".split()


@dataclass(frozen=True)
class Suite:
    name: str                # no other suite's may begin with it and a dash (cache.py)
    release: str             # of Debian, that the packages are from
    packages: tuple          # of the guest
    kernel_source: str       # the package with the source vmw_pvrdma is built from
    form: str = field(default="deb", repr=False)  # of the agent's package: deb, rpm; no part of the image, nor of its key

    @property
    def build_packages(self):
        """Added to a chroot for packages, to build vmw_pvrdma."""
        return ("linux-headers-amd64", self.kernel_source)


SUITES = {suite.name: suite for suite in (
    Suite("bookworm", "bookworm", (*COMMON, *LIBRARIES_12, *DEBIAN), "linux-source-6.1"),
    Suite("trixie", "trixie", (*COMMON, *LIBRARIES_13, *DEBIAN), "linux-source-6.12"),
    # No Enterprise Linux, whose packages Debian has not: the parts that are the same there, at about the same versions.
    Suite("dracut", "bookworm", (*COMMON, *LIBRARIES_12, *ENTERPRISE), "linux-source-6.1", "rpm"),
)}
DEFAULT = "bookworm"
