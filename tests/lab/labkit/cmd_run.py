# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/lab/run: runs scenarios, several at a time; prints one line each, and the whole output of failures."""

import argparse
import concurrent.futures
import contextlib
import re
import shutil
import sys
import threading

from . import host, paths, scenario as scenarios
from .errors import LabError
from .guest import SKIPPED
from .lab import Lab, add_options

GUEST_MEMORY = 1400 << 20  # bytes for a guest and its QEMU

EPILOG = """\
Logs of every scenario: build/lab/NAME/, or NAME-SUITE with --suite (output, also while a single guest runs; console.log,
qemu.log, timeline; of a failure recording.json, which tests/replay reads).
Environment, for the scenarios hot-plug, renames, link-after-live, unload-loop, flaps, sigkill, reload-loop:
  PVRDMA_LAB_ROUNDS=N               rounds of each, of ten flaps in flaps (default: 2 to 4; a long test takes 10, and
                                    20 for the two loops)
for the scenario mesh:
  PVRDMA_LAB_ROUNDS=N               further rounds of all pairs: by srun, by Ansible, among strangers (default: 0)
for the scenario soak:
  PVRDMA_LAB_SOAK_MINUTES=N         of the guest's time, of which an hour takes 20 to 50 minutes (default: 120)
  PVRDMA_LAB_SOAK_ROUND=SECONDS     each round takes so long at least, and rests for the remainder (default: 240)
  PVRDMA_LAB_ROUNDS=N               rounds between two upgrades (default: 6)
for the scenarios race-*:
  PVRDMA_LAB_RACE_BOOTS=N           boots of each (default: 4, and 2 without the agent; 80 are twenty for each manager)
  PVRDMA_LAB_RACE_MANAGERS="A B"    managers that take turns: networkd, ifupdown, NetworkManager, impatient (default: all)
for the scenario initramfs-links:
  PVRDMA_LAB_RACE_INITRAMFS_BOOTS=N boots (default: 3; 21 are twenty with links up in the initramfs)
  PVRDMA_LAB_RACE_INITRAMFS_CPUS=2  with two CPUs, without which the driver never crashes there (default: 1)
for the scenarios system-calls and resources:
  PVRDMA_LAB_WORKS="A B"            works of system-calls (look, bind, configuration, reload), resources that run out (default: all)
for all:
  PVRDMA_LAB_STARVED=yes            the agent and its executor have little of the CPU; scenarios with an own limit of time may fail
  PVRDMA_LAB_RECORDINGS=yes         keep the agent's recording of each scenario, in recording.json
Scenarios with `soak: yes` run only if they are named (tests/run --soak does).
Limits are in seconds of the guest's clock.
Exit status: 0 if no scenario failed, 1 otherwise.
"""


def guests_in_memory():
    return max(1, host.memory_available() // GUEST_MEMORY)


def guests_at_a_time():
    """The number of guests: that of tasks, limited by the memory."""
    return min(host.tasks_at_a_time(), guests_in_memory())


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="tests/lab/run", epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Run scenarios, each in a freshly booted guest with PVRDMA adapters.")
    add_options(parser)
    parser.add_argument("--jobs", metavar="N", type=int, default=guests_at_a_time(),
                        help="guests at a time (here, by default: %(default)s)")
    parser.add_argument("--prepare", choices=("image", "start"),
                        help="run none, but make the images of these scenarios' guests, or also the guests that they start from")
    parser.add_argument("--keep", action="store_true", help="leave each guest's directory (disk, sockets, logs)")
    parser.add_argument("--list", action="store_true", help="print the scenarios with their summaries, run nothing")
    parser.add_argument("--verbose", action="store_true", help="print the output of passes too")
    parser.add_argument("scenario", nargs="*", help="a name below tests/lab/scenarios, or a file (default: all)")
    return parser.parse_args(argv)


RECORDING = re.compile(r"^=== recording\n(.*?)\n=== end of the recording\n", re.M | re.S)


def _new_logs(name):
    target = paths.LOGS / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    return target


def _save_logs(guest, name, output):
    """Returns the output without the agent's recordings; the last of them is written to a file."""
    target = _new_logs(name)
    recordings, output = RECORDING.findall(output), RECORDING.sub("", output)
    if recordings and recordings[-1]:
        (target / "recording.json").write_text(f"{recordings[-1]}\n", encoding="utf-8")
    (target / "output").write_text(output, encoding="utf-8")
    for name in ("console.log", "qemu.log", "timeline"):
        if (guest.directory / name).exists():
            shutil.copy(guest.directory / name, target / name)
    return output


def _leave(guest, keep):
    if keep:
        print(f"kept {guest.directory}", flush=True)
    else:
        guest.close()


def _run_company(lab, scenario, keep):
    company, title = lab.company(scenario), lab.title(scenario)
    try:
        results = company.run()
        outputs = [_save_logs(guest, f"{title}-{guest.number}" if guest.number > 1 else title, result.output)
                   for guest, result in zip(company.guests, results)]
    finally:
        if keep:
            print("".join(f"kept {guest.directory}\n" for guest in company.guests), end="", flush=True)
        else:
            company.close()
    output = outputs[0] + "".join(f"=== guest {n}\n{text}" for n, text in enumerate(outputs[1:], 2))
    return next((r.status for r in results if r.status), 0), output, max(r.seconds for r in results)


def run_one(lab, scenario, keep):
    """(status, output, seconds) of one scenario; an error of the lab itself counts as a failure."""
    try:
        if scenario.guests > 1:
            return _run_company(lab, scenario, keep)
        guest = lab.guest(scenario)
    except LabError as error:
        return 1, f"{error}\n", 0.0
    with contextlib.ExitStack() as afterwards:
        # A scenario of an hour can be followed.
        guest.on_output = afterwards.enter_context(open(_new_logs(lab.title(scenario)) / "output", "wb", buffering=0)).write
        output, seconds = "", 0.0
        for number in range(scenario.clones + 1):
            name = f"{lab.title(scenario)}-clone-{number}" if number else lab.title(scenario)
            current = guest
            try:
                current = guest.clone(number) if number else guest
                afterwards.callback(_leave, current, keep)
                result = current.run()
            except LabError as error:
                _save_logs(current, name, str(error))
                return 1, f"{output}{error}\n", seconds
            output += _save_logs(current, name, result.output)
            seconds += result.seconds
            if result.status:
                break
        return result.status, output, seconds


class Report:
    """Prints results whole, as they come from several threads; counts them."""

    def __init__(self, verbose):
        self._lock = threading.Lock()
        self._verbose = verbose
        self.counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}

    def add(self, title, summary, status, output, seconds):
        verdict = {0: "PASS", SKIPPED: "SKIP"}.get(status, "FAIL")
        what = summary
        if verdict == "SKIP":
            reasons = re.findall(r"^SKIP: (.*)$", output, re.M)
            what = reasons[-1] if reasons else "no reason given"
        with self._lock:
            self.counts[verdict] += 1
            print(f"{verdict} {title} ({seconds:.1f} s) {what}", flush=True)
            if verdict == "FAIL" or self._verbose:
                print("".join(f"  | {line}\n" for line in output.splitlines()), end="", flush=True)

    def total(self):
        skipped = f", {self.counts['SKIP']} skipped" if self.counts["SKIP"] else ""
        return f"{self.counts['PASS']} passed, {self.counts['FAIL']} failed{skipped}"


def main(argv):
    options = parse_arguments(argv)
    chosen = [scenarios.load(name) for name in options.scenario]
    if not chosen and options.prepare != "image":
        chosen = [scenario for scenario in scenarios.load_all() if options.list or not scenario.soak]
    if options.list:
        for scenario in chosen:
            suite = f" [{scenario.suite}]" if scenario.suite else ""
            print(f"{scenario.name}{suite}: {scenario.summary}")
        return 0
    lab = Lab(options, chosen)
    if options.prepare:
        for scenario in chosen if options.prepare == "start" else ():
            lab.start(scenario)
        return 0
    report = Report(options.verbose)
    # The longest start first, so that the run does not end with a long one alone.
    chosen.sort(key=lambda scenario: -scenario.timeout * scenario.boots * (1 + scenario.clones))
    with concurrent.futures.ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        running = {pool.submit(run_one, lab, scenario, options.keep): scenario for scenario in chosen}
        try:
            for done in concurrent.futures.as_completed(running):
                report.add(lab.title(running[done]), running[done].summary, *done.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    print(report.total(), flush=True)
    return 1 if report.counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
