# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the table of tasks, the file for ninja, verdicts and the summary; one runs ninja itself on a small table."""

import contextlib
import io
import json
import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from runner import ROOT, __main__ as runs, graph, progress, summary, tasks
from runner import task as one_task
from runner.task import verdict
from runner.tasks import Task


def table(*some):
    return {task.name: task for task in some}


def result(seconds=1.0, failed=0, passed=1, skipped=0):
    return {"passed": passed, "failed": failed, "skipped": skipped, "why": "why", "log": "log", "began": 0.0,
            "seconds": seconds, "cpu": 0.5}


class TheTable(unittest.TestCase):
    def setUp(self):
        self.tasks = tasks.table()

    def test_each_need_is_a_task_and_none_waits_for_itself(self):
        seen = set()

        def visit(name, above):
            self.assertNotIn(name, above, "tasks wait for each other")
            if name not in seen:
                seen.add(name)
                for need in self.tasks[name].needs:
                    visit(need, (*above, name))

        for name in self.tasks:
            visit(name, ())

    def test_each_stage_has_tasks_and_each_test_a_stage(self):
        for stage in (*tasks.STAGES, "demo", "soak"):
            self.assertTrue(any(stage in task.stages for task in self.tasks.values()), stage)
        for task in self.tasks.values():
            self.assertTrue(task.stages or task.kind == "step", task.name)

    def test_each_scenario_is_run_by_the_stage_lab_or_is_for_soak(self):
        names = {path.stem for path in (ROOT / "tests/lab/scenarios").glob("*.sh")}
        elsewhere = {f"{tasks.IN_EACH_RUN}-{suite}" for suite in tasks.ELSEWHERE}
        here = {task.name.removeprefix("lab-") for task in self.tasks.values() if "lab" in task.stages} - {"demo"} - elsewhere
        self.assertEqual(names - here, {one.name for one in tasks.scenarios.load_all() if one.soak})

    def test_scenarios_elsewhere_name_their_suite_and_only_a_few_are_in_each_run(self):
        for suite, names in tasks.ELSEWHERE.items():
            for name in names:
                task = self.tasks[f"lab-{name}-{suite}"]
                self.assertEqual(task.command, f"tests/lab/run --suite {suite} {name}")
                self.assertEqual(task.stages, ("lab",) if name == tasks.IN_EACH_RUN else ("soak",))
                self.assertIn(f"image-{suite}", tasks.with_needs(self.tasks, [task.name]), task.name)

    def test_a_stage_brings_what_it_needs_and_no_more(self):
        some = table(Task("a", "", stages=("one",)), Task("b", "", ("a",), ("two",)), Task("c", "", ("b",), ("three",)))
        self.assertEqual(list(tasks.chosen(some, ("two",))), ["a", "b"])
        self.assertEqual(list(tasks.chosen(some, ("c",))), ["a", "b", "c"])


class TheFile(unittest.TestCase):
    def test_a_need_that_is_no_task_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "the task b needs x, which no task is"):
            graph.text(table(Task("b", "", ("x",))), "", {"work": 3})

    def test_what_needs_a_failed_task_is_not_run(self):
        some = table(Task("a", ""), Task("b", "", ("a",)), Task("c", "", pool="guest"))
        with tempfile.TemporaryDirectory() as directory:
            text = graph.text(some, "", {"guest": 1, "work": 2}).replace("-m runner.task", "-c 'import sys; sys.exit(sys.argv[-1] == \"a\")'")
            text = text.replace(str(graph.BUILD), directory)
            path = Path(directory) / "build.ninja"
            path.write_text(text, encoding="utf-8")
            done = subprocess.run(["ninja", "-k", "0", "-v", "-f", path], stdout=subprocess.PIPE, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        ran = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("[")]
        self.assertEqual(sorted(ran), ["a", "c"])

    def test_what_no_guest_and_no_clock_waits_for_gives_way(self):
        some = table(Task("image", ""), Task("guest", "", ("image",), pool="waiting"), Task("lint", "", ("image",)), Task("tests", "", kind="suite"),
                     Task("counted", "", ("guest",), kind="suite", pool="guest", counted=True))
        self.assertEqual(graph.urgent(some), {"image", "guest", "tests"})
        lines = graph.text(some, "", {"guest": 1, "work": 2}).splitlines()
        nice = str(graph.GIVES_WAY)
        self.assertEqual([line.split()[-1] for line in lines if line.startswith("  nice = ")], ["0", "0", nice, "0", nice])


class Verdicts(unittest.TestCase):
    def test_of_each_kind(self):
        for kind, status, output, expected in (
                ("check", 0, "all is well", (1, 0, 0)), ("check", 1, "", (0, 1, 0)), ("step", 0, "", (0, 0, 0)),
                ("step", 2, "", (0, 1, 0)), ("suite", 0, "x\n3 passed, 0 failed", (3, 0, 0)),
                ("suite", 1, "3 passed, 2 failed, 1 skipped", (3, 2, 1)), ("suite", 0, "", (0, 1, 0)),
                ("suite", 0, "3 passed, 0 failed\nmore", (0, 1, 0)), ("suite", 0, "0 passed, 0 failed", (0, 1, 0)),
                ("suite", 7, "3 passed, 0 failed", (3, 1, 0))):
            self.assertEqual(verdict(kind, status, output)[:3], expected, (kind, status, output))

    def test_a_scenario_that_fails_says_where(self):
        output = "FAIL x (3 s) a scenario\n  | ok: one\n  | FAIL: two (no: after 20 s)\n  | --- diagnostics\n0 passed, 1 failed"
        self.assertEqual(verdict("suite", 1, output)[3], "1 of its tests failed, the first with: two (no: after 20 s)")


class CpuTime(unittest.TestCase):
    def test_of_a_process_whose_parent_ended_before_it(self):
        burn = "for ((i = 0; i < 300000; i++)); do :; done"
        with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as patched:
            for name in ("LOGS", "DONE", "RESULTS", "RUNNING", "ROOT"):
                patched.enter_context(unittest.mock.patch.object(one_task, name, Path(directory)))
            patched.enter_context(contextlib.redirect_stdout(io.StringIO()))
            one_task.run(Task("orphan", f"bash -c '{{ {burn}; echo; }} & exit' | cat"))
            result = json.loads((Path(directory) / "orphan.json").read_text(encoding="utf-8"))
        self.assertGreater(result["cpu"], 0.1)


class TheSummary(unittest.TestCase):
    some = table(Task("a", ""), Task("b", "", ("a",)), Task("c", "", ("b",)), Task("d", ""))

    def test_a_failed_need_is_not_run_and_not_failed(self):
        text, failed = summary.text(self.some, {"a": result(failed=1, passed=0), "d": result(skipped=2)}, 10, 2)
        self.assertTrue(failed)
        self.assertIn("failed: a: why; see log", text)
        self.assertIn("not run: b, as it needs a", text)
        self.assertIn("not run: c, as it needs b", text)
        self.assertEqual(text.splitlines()[-2:], ["2 skipped, as SKIP says above", "1 passed, 1 failed"])

    def test_all_is_well(self):
        text, failed = summary.text(self.some, {name: result() for name in self.some}, 10, 2)
        self.assertFalse(failed)
        self.assertEqual(text.splitlines()[-1], "4 passed, 0 failed")

    def test_a_run_that_was_broken_off_has_failed(self):
        text, failed = summary.text(self.some, {"a": result()}, 10, 2)
        self.assertTrue(failed)
        self.assertEqual(text.splitlines()[-1], "1 passed, 1 failed")

    def test_the_slowest_chain(self):
        done = {"a": result(5), "b": result(1), "c": result(2), "d": result(7)}
        self.assertEqual(summary.slowest_chain(self.some, done), (8, ("a", "b", "c")))

    def test_what_is_left(self):
        before = {"a": 10, "b": 20, "c": 30, "d": 300}
        self.assertEqual(progress.left(self.some, before, (), {"d"}, 2), 60)
        self.assertEqual(progress.left(self.some, before, (), (), 2), 300)
        self.assertIsNone(progress.left(self.some, {"a": 1}, (), (), os.cpu_count()))


class OneRun(unittest.TestCase):
    def test_a_tree_has_one_run_at_a_time(self):
        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(runs, "BUILD", Path(directory)):
            lock = runs.sole_run()
            self.assertIsNone(runs.sole_run())
            lock.close()
            runs.sole_run().close()


if __name__ == "__main__":
    unittest.main()
