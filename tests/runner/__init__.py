# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run: what tests there are (tasks), in what order ninja runs them (graph), how one is run (task) and what is told
of it (progress, summary). Everything it writes is below build/tests."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "tests"
LOGS, RESULTS, DONE, RUNNING = (BUILD / name for name in ("logs", "results", "done", "running"))
NINJA_FILE = BUILD / "build.ninja"
COUNT = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
