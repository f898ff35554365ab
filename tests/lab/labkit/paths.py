# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths of the lab. In the tree the lab writes only below build/."""

import os
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
ROOT = LAB.parent.parent
GUEST = LAB / "guest"
IMAGE = LAB / "image"
HCA = LAB / "hca"
RPM = LAB / "rpm"
DRIVER = ROOT / "packaging" / "driver"
SCENARIOS = LAB / "scenarios"
PACKAGES = ROOT / "build" / "packages"
LOGS = ROOT / "build" / "lab"
CACHE = Path(os.environ.get("PVRDMA_LAB_CACHE", "/var/cache/pvrdma-agent-lab"))
