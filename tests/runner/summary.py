# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary at the end: the longest tasks, the slowest chain, failed tasks, tasks that were not run, and the count."""

import json

from . import RESULTS


def results(tasks):
    """The results by name, of tasks that were run."""
    found = {}
    for name in tasks:
        path = RESULTS / f"{name}.json"
        if path.exists():
            found[name] = json.loads(path.read_text(encoding="utf-8"))
    return found


def not_run(tasks, done):
    """Each task that was not run, with its needs that failed or were not run either."""
    return {name: tuple(need for need in task.needs if need not in done or done[need]["failed"])
            for name, task in tasks.items() if name not in done}


def slowest_chain(tasks, done):
    """The chain of tasks, each of which needs the one before, that took longest in all."""
    chains = {}

    def chain(name):
        if name not in chains:
            before = max((chain(need) for need in tasks[name].needs if need in done), key=lambda one: one[0], default=(0.0, ()))
            chains[name] = (before[0] + done[name]["seconds"], (*before[1], name))
        return chains[name]

    return max((chain(name) for name in done), key=lambda one: one[0], default=(0.0, ()))


def text(tasks, done, seconds, cpus):
    """The whole summary, and whether a task failed."""
    lines = ["longest tasks (seconds, seconds of a CPU):"]
    for name, result in sorted(done.items(), key=lambda one: -one[1]["seconds"])[:15]:
        lines.append(f"  {result['seconds']:6.0f} {result['cpu']:6.0f}  {name}")
    length, chain = slowest_chain(tasks, done)
    lines.append(f"slowest chain: {length:.0f} s: " + " > ".join(f"{name} {done[name]['seconds']:.0f}" for name in chain))
    used = sum(result["cpu"] for result in done.values())
    lines.append(f"all of it: {seconds:.0f} s, {used:.0f} s of a CPU, {100 * used / max(seconds * cpus, 1):.0f} % of {cpus} CPUs")
    lines += [f"failed: {name}: {result['why']}; see {result['log']}" for name, result in done.items() if result["failed"]]
    for name, causes in not_run(tasks, done).items():
        lines.append(f"not run: {name}" + (f", as it needs {', '.join(causes)}" if causes else ""))
    passed, failed, skipped = (sum(result[what] for result in done.values()) for what in ("passed", "failed", "skipped"))
    # A run that was broken off has not passed.
    broken_off = not failed and len(done) < len(tasks)
    if broken_off:
        lines.append("failed: the run was broken off")
    if skipped:
        lines.append(f"{skipped} skipped, as SKIP says above")
    lines.append(f"{passed} passed, {failed + broken_off} failed")
    return "\n".join(lines), bool(failed or broken_off)
