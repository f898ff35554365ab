# SPDX-License-Identifier: GPL-2.0-or-later
"""The output while ninja runs: the output of each task at its end, and on a terminal a line about the tasks under way."""

import os
import shutil
import signal
import subprocess
import sys
import threading

from . import DONE, NINJA_FILE, RESULTS, RUNNING

UNKNOWN = 30.0  # seconds assumed for a task that was never run here


def left(tasks, before, running, done, cpus):
    """About how many seconds are left, or None if most tasks were never run. `before` has the seconds of earlier runs."""
    open_tasks = [name for name in tasks if name not in done]
    if sum(name in before for name in open_tasks) * 2 < len(open_tasks):
        return None
    chain = {}

    def longest(name):
        if name not in chain:
            own = 0.0 if name in done else before.get(name, UNKNOWN)
            chain[name] = own + max((longest(need) for need in tasks[name].needs), default=0.0)
        return chain[name]

    work = sum(before.get(name, UNKNOWN) * (0.5 if name in running else 1) for name in open_tasks)
    return max([work / (cpus + 1), *(longest(name) for name in open_tasks)])


def line(tasks, before, width):
    done = set(os.listdir(DONE)) | {name.removesuffix(".json") for name in os.listdir(RESULTS)}
    running = sorted(set(os.listdir(RUNNING)) - done)
    seconds = left(tasks, before, running, done, os.cpu_count())
    about = f", about {max(1, round(seconds / 60))} min left" if seconds is not None else ""
    return f"[{len(done)} of {len(tasks)}{about}] {', '.join(running)}"[:width - 1]


def run(tasks, before, at_a_time):
    """Runs ninja to its end; returns its exit status."""
    shown = sys.stdout.isatty()
    argv = ["ninja", "--quiet", "-k", "0", "-j", str(at_a_time), "-f", str(NINJA_FILE)]
    lock, over = threading.Lock(), threading.Event()

    def status_line():
        while not over.wait(1):
            with lock:
                print("\r\x1b[K" + line(tasks, before, shutil.get_terminal_size().columns), end="", flush=True)

    if shown:
        threading.Thread(target=status_line, daemon=True).start()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as ninja:
        def show():
            for said in ninja.stdout:
                # The task itself has printed the failure, so ninja's lines about it are left out.
                if said.startswith(("FAILED: ", "ninja: ")) or "-m runner.task" in said:
                    continue
                with lock:
                    print(("\r\x1b[K" if shown else "") + said, end="", flush=True)
        try:
            show()
        except KeyboardInterrupt:
            # On a terminal ninja has got the signal already; it ends its tasks, and this waits for ninja.
            ninja.send_signal(signal.SIGINT)
            show()
        finally:
            over.set()
            if shown:
                print("\r\x1b[K", end="")
    return ninja.returncode
