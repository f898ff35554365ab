# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the tasks as a file for ninja, and refuses needs that are no tasks."""

import os
import sys

from . import BUILD, DONE, NINJA_FILE, ROOT
from .tasks import with_needs

# nice(1): with this value a task gets a tenth of the CPU time of a task with 0.
GIVES_WAY = 10


def _escaped(text):
    return str(text).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def urgent(tasks):
    """The names of tasks that guests need, and of suites, which have time limits. Guests whose clock counts instructions are
    not among them."""
    for_guests = with_needs(tasks, [task.name for task in tasks.values() if task.pool in ("guest", "waiting")])
    in_time = {task.name for task in tasks.values() if task.kind == "suite"}
    return (for_guests | in_time) - {task.name for task in tasks.values() if task.counted}


def text(tasks, options, depths):
    """The file for ninja, which starts tasks in this order where it has a choice. A pool's depth limits how many of its tasks run
    at the same time. Tasks that are not urgent run with a higher nice value."""
    lines = ["ninja_required_version = 1.5", f"builddir = {_escaped(BUILD)}",
             *(f"pool {name}\n  depth = {depth}" for name, depth in depths.items()), "rule task",
             f"  command = cd {_escaped(ROOT)} && PYTHONPATH=tests PYTHONDONTWRITEBYTECODE=1 nice -n $nice {sys.executable} -m runner.task {options} $name",
             "  description = $name"]
    first = urgent(tasks)
    for task in tasks.values():
        missing = [name for name in task.needs if name not in tasks]
        if missing:
            raise ValueError(f"the task {task.name} needs {', '.join(missing)}, which no task is")
        needs = "".join(f" {_escaped(DONE / name)}" for name in task.needs)
        lines += [f"build {_escaped(DONE / task.name)}: task{' |' + needs if needs else ''}", f"  name = {task.name}"]
        lines += [f"  pool = {task.pool}", f"  nice = {0 if task.name in first else GIVES_WAY}"]
    return "\n".join(lines) + "\n"


def write(tasks, options, guests, waiting):
    """`guests`: how many guests run at a time; `waiting`: how many that mostly wait."""
    BUILD.mkdir(parents=True, exist_ok=True)
    depths = {"guest": guests, "waiting": waiting, "unpack": 2, "work": os.cpu_count()}
    NINJA_FILE.write_text(text(tasks, options, depths), encoding="utf-8")
