# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one task for ninja: writes its output to a log, its verdict and times to a file, and prints a line or more.

    python3 -m runner.task [--hours HOURS] NAME
"""

import contextlib
import ctypes
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

from . import COUNT, DONE, LOGS, RESULTS, ROOT, RUNNING
from .tasks import table

FUNCTIONS = ROOT / "tests/runner/functions.sh"
PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
MOMENT_S = 1


def verdict(kind, status, output):
    """(passed, failed, skipped, why) of a task that has ended. A suite has failed as a whole if it ends without a count, fails
    without a failed test, or ran no test."""
    if kind != "suite":
        return (int(kind == "check" and not status), int(status != 0), 0, f"ended with status {status}" if status else "")
    lines = output.splitlines()
    found = COUNT.fullmatch(lines[-1]) if lines else None
    if not found:
        return 0, 1, 0, f"ended with status {status} and without a count"
    passed, failed, skipped = (int(number or 0) for number in found.groups())
    if passed + failed + skipped == 0:
        return 0, 1, 0, "ran no test at all"
    if status and not failed:
        return passed, 1, skipped, f"ended with status {status}"
    return passed, failed, skipped, f"{failed} of its tests failed{first_reason(output)}" if failed else ""


def first_reason(output):
    """The message of the first failed scenario, because a reader may have only the summary and CI's excerpt."""
    said = re.search(r"^[ |]*FAIL: (.{1,300})", output, re.MULTILINE)
    return f", the first with: {said[1]}" if said else ""


def reap():
    """Waits for processes below this one, for a moment: bwrap's child ends shortly after bwrap itself, and is then a child of
    this process, as is its CPU time. Processes that run longer are not waited for."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] or signal.sigtimedwait({signal.SIGCHLD}, MOMENT_S):
            pass
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def run(task):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    log = LOGS / f"{task.name}.log"
    (RUNNING / task.name).touch()
    began = time.time()
    with open(log, "w", encoding="utf-8") as out:
        status = subprocess.run(["bash", "-uo", "pipefail", "-c", f". {FUNCTIONS}; {task.command}"], cwd=ROOT,
                                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    reap()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = log.read_text(encoding="utf-8", errors="replace")
    passed, failed, skipped, why = verdict(task.kind, status, output)
    result = {"passed": passed, "failed": failed, "skipped": skipped, "why": why, "log": str(log.relative_to(ROOT)),
              "began": began, "seconds": time.time() - began, "cpu": used.ru_utime + used.ru_stime}
    (RESULTS / f"{task.name}.json").write_text(json.dumps(result), encoding="utf-8")
    (RUNNING / task.name).unlink(missing_ok=True)
    show(task, result, output)
    if not failed:
        (DONE / task.name).touch()
    return 1 if failed else 0


def show(task, result, output):
    times = f"({result['seconds']:.0f} s)"
    last = output.splitlines()[-1:] or [""]
    if result["failed"]:
        print("".join(f"  | {line}\n" for line in output.splitlines()[-200:]), end="")
        print(f"FAIL {task.name} {times}: {result['why']}; its whole output is in {result['log']}")
    elif task.kind == "suite":
        told = [line for line in output.splitlines() if line.startswith(("PASS ", "SKIP "))]
        print("\n".join(told if len(told) == 1 else [*told, f"{task.name} {times}: {last[0]}"]))
    else:
        print(f"{'PASS' if task.kind == 'check' else 'done'} {task.name} {times}: {last[0]}")


def main(argv):
    hours = 1.0
    if argv[0] == "--hours":
        hours, argv = float(argv[1]), argv[2:]
    return run(table(hours)[argv[0]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
