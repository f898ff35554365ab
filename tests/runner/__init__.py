# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/run: the table of tests (tasks), the order in which ninja runs them (graph), the run of one (task) and the output
(progress, summary). All files that it writes are below build/tests."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "tests"
LOGS, RESULTS, DONE, RUNNING = (BUILD / name for name in ("logs", "results", "done", "running"))
NINJA_FILE = BUILD / "build.ninja"
COUNT = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
