# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of tasks: the command of each, its needs, and the stages that it belongs to.

A `check` is one test, whose exit status is the verdict. A `suite` runs tests itself and ends with "N passed, N failed[, N
skipped]". A `step` is no test, but tests need it; it counts only if it fails. Tasks start in this order where there is a
choice, so tasks that many others need come first.
"""

import os
import sys
from dataclasses import dataclass

from . import ROOT

sys.path.insert(0, str(ROOT / "tests/lab"))

from labkit import scenario as scenarios  # noqa: E402
from labkit.suites import DEFAULT, SUITES  # noqa: E402

STAGES = ("static", "unit", "sanitized", "trixie", "selftest", "package", "rpm", "templates", "lab")
# Seconds for each target of tests/fuzz, for each hour of --soak.
FUZZ_SECONDS = {"config": 600, "serve": 600, "mesh": 600, "service": 300, "client": 300, "control": 300, "executor_json": 60, "ledger": 60,
                "health": 60, "host_output": 60, "figures": 60, "proc": 60, "recipe": 60, "netlink": 60, "initramfs": 60}
QUICK = ("static", "unit", "demo")
# On KVM no clock counts instructions.
KVM = os.access("/dev/kvm", os.R_OK | os.W_OK)
RELEASES = ("bullseye", "bookworm", "trixie")


@dataclass(frozen=True)
class Task:
    name: str
    command: str                 # for bash, in the tree's root, after tests/runner/functions.sh
    needs: tuple = ()            # names of tasks
    stages: tuple = ()           # none: run only if another task needs it
    kind: str = "check"
    pool: str = "work"           # guest, waiting (a guest that mostly waits), unpack (of packages), work: graph.py has their depths
    counted: bool = False        # the guest's clock counts its instructions, so it needs no priority to keep its time limits


def _packages():
    yield Task("package-deb", "packaging/build-deb --portable --for-tests", ("chroot-bullseye-build",), ("package",))
    for release in RELEASES:
        # The chroot "check" is "build" with further packages.
        for kind, needs in (("build", ()), ("check", (f"chroot-{release}-build",))):
            yield Task(f"chroot-{release}-{kind}", f"in_chroot {release} {kind} build/tests/empty true", needs, kind="step",
                       pool="unpack")
    for release, stage in (("trixie", "package"), ("bookworm", "soak")):
        needs = ("package-deb", f"chroot-{release}-check")
        yield Task(f"lintian-{release}", f"lintian_clean {release}", needs, (stage,))
        yield Task(f"units-{release}", f"in_chroot {release} check build/packages/portable /tree/tests/check/units /build", needs, (stage,))
    # The rpm is built after the deb, whose compiled files it finds in the compiler cache.
    yield Task("package-rpm", "packaging/build-rpm --for-tests", ("package-deb",), ("rpm",))
    yield Task("rpm", "tests/check/rpm build/packages/rpm", ("package-rpm",), ("rpm",))
    yield Task("portable", "tests/check/portable build/packages/portable/pvrdma-agent_*.deb build/packages/rpm/pvrdma-agent-*.$(uname -m).rpm",
               ("package-deb", "package-rpm"), ("package",))
    yield Task("templates", "tests/check/templates build/packages/portable", ("package-deb",), ("templates",), "suite")


def _code():
    unit = ("unit", "sanitized")
    yield Task("build", "build_sanitized", (), ("static", *unit))
    yield Task("unit-tests", "unit_tests build/unit", ("build",), unit, "suite")
    yield Task("build-trixie", "build_trixie", ("chroot-trixie-check",), ("trixie",))
    yield Task("unit-tests-trixie", "unit_tests build/trixie/0 /build/0 in_chroot trixie check build/trixie", ("build-trixie",),
               ("trixie",), "suite")
    yield Task("selftest-lab", "tests/lab/selftest/run", (), ("selftest",), "suite")
    yield Task("selftest-run", "PYTHONPATH=tests python3 -m unittest -q tests/runner/selftest.py", (), ("selftest",))
    for name in ("include-directions", "include-directions-selftest", "files", "format", "scripts", "read-guestinfo",
                 "slurm-health-check", "slurm-verify-mesh", "kubernetes-examples", "job-lines"):
        yield Task(name, f"tests/check/{name}", (), ("static",))
    for name in ("completions", "documentation", "documentation-selftest", "monitoring"):
        yield Task(name, f"tests/check/{name} build/unit", ("build",), ("static",))
    yield Task("clang-tidy", "GLIBC_TUNABLES=$huge_pages tests/check/tidy build/unit", ("build",), ("static",))


# Scenarios in guests of other suites, whose kernels and systemd are older and newer than those of the rest: of each suite one in every
# run, the others in --soak.
IN_EACH_RUN = "cold-boot"
SOAKED = ("driver-baseline", "probe-failed", "hot-plug", "two-adapters-one-job", "reload-links-up", "reload-always", "package")
ELSEWHERE = {"bullseye": (IN_EACH_RUN, *SOAKED, "initramfs-tools"), "forky": (IN_EACH_RUN, *SOAKED, "initramfs-debian-dracut"),
             "bookworm": ("applications",), "trixie": ("applications", "sos")}  # Open MPI 4 and 5; a sos that masks MACs in JSON


def _topology(scenario, suite):
    t = scenario.topology()
    words = [suite, f"{t['cpus']}-cpus" if t["cpus"] > 1 else "", "guests" if t["guests"] > 1 else "",
             "" if t["install"] == "yes" else "plain", "loaders" if t["loaders"] else "", "behind" if t["regular"] == "last" else ""]
    return "-".join(word for word in words if word)


def _runs(all_scenarios):
    """(scenario, suite, stages, options for tests/lab/run) of each run of a scenario. Long ones come first. The time of a scenario with
    several guests is divided by their number: such a scenario compares figures, so it should run later, when no files are compiled
    any more."""
    for scenario in sorted(all_scenarios, key=lambda one: -one.timeout * one.boots * (1 + one.clones) / one.guests):
        if not scenario.soak:
            yield scenario, scenario.suite or DEFAULT, ("lab",), ""
        for suite, names in ELSEWHERE.items():
            if scenario.name in names:
                yield scenario, suite, ("lab",) if scenario.name == IN_EACH_RUN else ("soak",), f"--suite {suite} "


def _lab(all_scenarios):
    for suite in SUITES:
        # The first image builds the parts that all images share.
        yield Task(f"image-{suite}", f"tests/lab/run --suite {suite} --prepare image", ("image-bookworm",) if suite == "dracut" else (),
                   kind="step", pool="unpack")
    installed, snapshots, tests = {}, {}, []
    for scenario, suite, stages, options in _runs(all_scenarios):
        name = scenario.name + (f"-{suite}" if options else "")
        needs = needs_of_guest = [f"image-{suite}", f"package-{SUITES[suite].form}"]
        more = scenario.previous or scenario.programs
        prepare = f"tests/lab/run {options}--prepare start {scenario.name}"
        if scenario.install == "yes":
            needs = [f"guest-{suite}"]
            # The first scenario that begins with a boot and needs nothing else makes the guest.
            if scenario.start == "boot" and not more:
                installed.setdefault(suite, Task(f"guest-{suite}", prepare, tuple(needs_of_guest), kind="step", pool="guest"))
        if scenario.start == "snapshot":
            snapshot = f"snapshot-{_topology(scenario, suite)}"
            snapshots.setdefault(snapshot, Task(snapshot, prepare, tuple(needs), kind="step", pool="guest"))
            needs = [snapshot]
        if more:
            tests.append(Task(f"prepare-{name}", prepare, tuple(needs), kind="step", pool="work" if scenario.previous else "unpack"))
            needs = [f"prepare-{name}"]
        tests.append(Task(f"lab-{name}", f"tests/lab/run {options}{scenario.name}", tuple(needs), stages, "suite",
                          "waiting" if scenario.waits else "guest", scenario.counted and not KVM))
    yield from (*installed.values(), *snapshots.values())
    yield from _cockpit()
    yield Task("initramfs", "tests/check/initramfs build/packages/portable build/packages/rpm",
               ("package-deb", "package-rpm", "image-bookworm", "image-dracut"), ("lab",), "suite", "unpack")
    yield Task("demo", "demo_shows_ready", (f"guest-{DEFAULT}",), ("lab", "demo"), pool="guest")
    yield from tests


def _cockpit():
    """A guest like a scenario's, from a snapshot of scenarios; a browser outside of the guest shows its page."""
    start = f"snapshot-{_topology(scenarios.load(ROOT / 'tests/lab/guest/cockpit.sh'), DEFAULT)}"
    yield Task("prepare-cockpit", "tests/check/cockpit --prepare", (start,), kind="step", pool="unpack")
    yield Task("cockpit", "tests/check/cockpit build/packages/portable", ("prepare-cockpit",), ("lab",), "suite", "guest")


def _soak(hours, all_scenarios):
    """The stage soak: long loops, and static checks that take long."""
    boots = min(100, max(4, round(60 * hours)))
    race = f"PVRDMA_LAB_RACE_BOOTS={boots} tests/lab/run"
    minutes = max(1, round(60 * hours))
    stages = ("soak",)
    yield Task("tidy-analyzer", "tests/check/tidy --analyzer build/unit", ("build",), stages)
    yield Task("includes", "tests/check/tidy --includes build/unit", ("build",), stages)
    for suite, kind, version in (("bullseye", "check", 10), ("bookworm", "gcc-11", 11), ("bookworm", "check", 12), ("trixie", "check", 14), ("forky", "gcc-16", 16)):
        yield Task(f"gcc-{version}", f"compiler {suite} {kind} {version}", (f"chroot-{suite}-check",) if suite in RELEASES else (), stages, "suite")
    yield Task("soak-race-with-agent", f"{race} race-with-agent", ("guest-trixie",), stages, "suite", "guest")
    yield Task("soak-race-without-agent", f"{race} race-without-agent", ("image-trixie", "package-deb"), stages, "suite", "guest")
    yield Task("soak-reload-loop", f"PVRDMA_LAB_RELOAD_MINUTES={minutes} PVRDMA_LAB_RELOAD_TIMEOUT={60 * minutes + 900} "
               "tests/lab/run reload-loop", ("guest-bookworm",), stages, "suite", "guest")
    # Two hours at least, as that is the shortest time in which growth would show; a trial of --soak is shorter.
    guest = minutes if hours < 1 else max(120, minutes)
    yield Task("soak-soak", f"PVRDMA_LAB_SOAK_MINUTES={guest} PVRDMA_LAB_SOAK_TIMEOUT={60 * guest + 1800} tests/lab/run soak",
               ("guest-bookworm",), stages, "suite", "guest", True)
    yield Task("soak-package", "PVRDMA_LAB_PREVIOUS=history tests/lab/run package", ("image-bookworm", "package-deb", "chroot-bookworm-build"),
               stages, "suite", "guest")
    for name in ("system-calls", "resources"):
        yield Task(f"soak-{name}", f"tests/lab/run {name}", ("guest-bookworm",), stages, "suite", "guest")
    yield Task("soak-hostile-users", f"PVRDMA_LAB_FLOOD_SECONDS={max(60, minutes)} PVRDMA_LAB_TIMEOUT=1800 tests/lab/run hostile-users",
               ("guest-bookworm",), stages, "suite", "guest")
    for adapters in (1, 2):
        yield Task(f"soak-races-{adapters}", f"PVRDMA_LAB_RACE_ADAPTERS={adapters} tests/lab/run races", ("guest-bookworm",), stages,
                   "suite", "guest")
    yield Task("driver", "tests/check/driver build/packages/portable build/packages/rpm", ("package-deb", "package-rpm"), stages, "suite",
               "unpack")
    images = max(4, round(21 * hours))
    yield Task("soak-initramfs-links", f"PVRDMA_LAB_RACE_INITRAMFS_CPUS=2 PVRDMA_LAB_RACE_INITRAMFS_BOOTS={images} tests/lab/run initramfs-links",
               ("guest-trixie",), stages, "suite", "guest")
    # Scenarios with units that have little of the CPU: without a flood of requests, which cannot be answered in time then, and without
    # guests whose clock goes on while this machine is busy, as the units would have still less there.
    starved = " ".join(one.name for one in all_scenarios
                       if one.counted and one.install == "yes" and not one.soak and one.name != "hostile-users")
    yield Task("soak-starved", f"PVRDMA_LAB_STARVED=yes tests/lab/run --jobs 2 {starved}", ("image-trixie", "image-dracut", "package-deb", "package-rpm"),
               stages, "suite", "guest")
    rounds = max(4, round(20 * hours))
    for name in ("hot-plug", "link-after-live", "unload-loop", "flaps", "sigkill", "renames"):
        yield Task(f"soak-{name}", f"PVRDMA_LAB_ROUNDS={rounds} PVRDMA_LAB_TIMEOUT={rounds * 120 + 600} tests/lab/run {name}",
                   ("guest-bookworm",), stages, "suite", "guest")
    yield Task("build-fuzz", "build_fuzz", (), kind="step")
    yield Task("soak-toml-grammar", f"PVRDMA_GRAMMAR_TEXTS={round(1e6 * hours)} python3 tests/fuzz/toml_grammar.py build/unit/tests/fuzz/toml-answers",
               ("build",), stages)
    for name, seconds in FUZZ_SECONDS.items():
        yield Task(f"fuzz-{name.replace('_', '-')}", f"fuzz {name} {max(10, round(seconds * hours))}", ("build-fuzz",), stages)
    # Each round is two meshes of three pairs, of ten seconds each.
    meshes = max(3, round(10 * hours))
    yield Task("soak-mesh", f"PVRDMA_LAB_ROUNDS={meshes} PVRDMA_LAB_TIMEOUT={meshes * 240 + 900} tests/lab/run mesh",
               ("prepare-mesh",), stages, "suite", "guest")


def table(hours=1.0, all_scenarios=None):
    """All tasks by name."""
    found = scenarios.load_all() if all_scenarios is None else all_scenarios
    tasks = [*_packages(), *_code(), *_lab(found), *_soak(hours, found)]
    # Images come first: half of their time they wait for the network.
    tasks.sort(key=lambda task: not task.name.startswith(("image-bookworm", "chroot-bullseye-build", "package-deb")))
    named = {task.name: task for task in tasks}
    if len(named) < len(tasks):
        raise ValueError("two tasks have one name: " + ", ".join(sorted({task.name for task in tasks if tasks.count(task) > 1 or named[task.name] != task})))
    return named


def with_needs(tasks, names):
    """The names, and the names of all tasks that these need, directly or not."""
    found, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += tasks[name].needs
    return found


def chosen(tasks, stages):
    """The tasks of these stages, or of these names, and what they need, in the table's order."""
    wanted = with_needs(tasks, [task.name for task in tasks.values() if {task.name, *task.stages} & set(stages)])
    return {name: task for name, task in tasks.items() if name in wanted}
