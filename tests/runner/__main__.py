# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every test of this tree, on Debian 12, as root.

Installs missing packages, builds below build/, and goes on after a failure; only tasks that need the failed one are not run.
The last line is "N passed, N failed", after a line with the number of skipped tests; the exit status is 1 if a test failed.
Logs are in build/tests/logs. Caches (compiler, clang-tidy, chroots, guest images) lie outside the tree and may be removed at
any time.
"""

import argparse
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time

from . import BUILD, DONE, LOGS, RESULTS, ROOT, RUNNING, graph, progress, summary
from .tasks import QUICK, STAGES, chosen, table

WAITING = 2  # guests at a time that mostly wait; they take the place of one other guest

STAGE_HELP = """\
stages:
  static     include directions, files, formatting, shellcheck, pyflakes, completions, documentation, examples, metrics and
             alerts, clang-tidy
  unit       unit tests under AddressSanitizer and UndefinedBehaviorSanitizer (also called sanitized)
  trixie     unit tests in a chroot of Debian 13: GCC 14, Catch2 3, toml11 4, warnings as errors
  selftest   the lab's own tests, and those of tests/run
  package    the deb for all systems: build in a chroot of Debian 11, its libraries; lintian, units, sandbox in chroots of others
  rpm        the rpm: build, rpmlint
  templates  packaging/templates, checked and run by the tools for each, with the deb
  lab        scenarios on the real driver, in guests with the package installed
"""


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="tests/run", description=__doc__, epilog=STAGE_HELP,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="static checks, unit tests and the lab's demo")
    which.add_argument("--soak", metavar="HOURS", nargs="?", type=float, const=1.0,
                       help="long tests that are in no other run: races, loops, clang-tidy's analyzer, each file compiled by "
                            "itself; loops go on for HOURS (default: 1)")
    which.add_argument("--list", action="store_true", help="name the stages and run nothing")
    parser.add_argument("stage", metavar="STAGE", nargs="*", help="some of the stages below (default: all), or a task by its name, as the summary has it")
    options = parser.parse_args(argv)
    for stage in options.stage:
        if stage not in STAGES and stage not in table():
            parser.error(f"unknown stage {stage} (try --help)")
    if options.stage and (options.quick or options.soak):
        parser.error("--quick and --soak choose the stages themselves")
    return options


def stages_of(options):
    if options.soak:
        return ("soak",)
    return QUICK if options.quick else options.stage or STAGES


def sole_run():
    """The lock of the only run in this tree, or None: another run would remove the results of this one."""
    BUILD.mkdir(parents=True, exist_ok=True)
    lock = open(BUILD / "lock", "a", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def fresh_directories():
    """Removes the files of an earlier run; returns the seconds that its tasks took."""
    before = BUILD / "seconds"
    seconds = {}
    if before.exists():
        seconds = {name: float(number) for name, number in (line.split() for line in before.read_text().splitlines())}
    for directory in (RESULTS, DONE, RUNNING, LOGS):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    return seconds


def remember(seconds, done):
    seconds = {**seconds, **{name: result["seconds"] for name, result in done.items()}}
    (BUILD / "seconds").write_text("".join(f"{name} {number:.1f}\n" for name, number in seconds.items()), encoding="utf-8")


def main(argv):
    options = parse_arguments(argv)
    if options.list:
        print("\n".join(STAGES))
        return 0
    hours = options.soak or 1.0
    tasks = chosen(table(hours), stages_of(options))
    lock = sole_run()
    if not lock:
        print(f"failed: another tests/run goes on in this tree (it holds {BUILD / 'lock'})\n0 passed, 1 failed")
        return 1
    if subprocess.run([ROOT / "tests/runner/install-needs"], check=False, stdin=subprocess.DEVNULL).returncode:
        print("failed: installing the needed packages\n0 passed, 1 failed")
        return 1
    before = fresh_directories()
    from labkit import cmd_run, host  # pylint: disable=import-outside-toplevel  # their directory comes with tasks
    guests = max(1, cmd_run.guests_at_a_time() - 1)
    waiting = max(1, min(WAITING, cmd_run.guests_in_memory() - guests))
    graph.write(tasks, f"--hours {hours}", guests, waiting)
    began = time.monotonic()
    progress.run(tasks, before, host.tasks_at_a_time() - 1 + waiting)
    done = summary.results(tasks)
    remember(before, done)
    lock.close()
    print("\n=== summary")
    text, failed = summary.text(tasks, done, time.monotonic() - began, os.cpu_count())
    print(text, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    sys.exit(main(sys.argv[1:]))
