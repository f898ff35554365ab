# SPDX-License-Identifier: GPL-2.0-or-later
"""Headers of scenarios, and their effects on the guest's machine and settings."""

import os
import re
import unittest
import unittest.mock
from pathlib import Path

from labkit import payload, paths, scenario
from labkit.errors import LabError
from labkit.lab import wanted
from labkit.machine import Machine

BODY = "scenario() { :; }\n"


class Headers(unittest.TestCase):
    def parse(self, text):
        return scenario.parse(Path("x.sh"), text)

    def test_defaults_and_directives(self):
        parsed = self.parse("# summary: it works\n# adapters: 2\n# port: DOWN\n# allow-oops: known\n#\n# note: text\n" + BODY)
        self.assertEqual((parsed.adapters, parsed.port, parsed.install, parsed.early), (2, "DOWN", "yes", False))
        self.assertEqual((parsed.name, parsed.allow_oops), ("x", "known"))
        self.assertEqual((parsed.previous, parsed.programs), (False, ()))
        parsed = self.parse("# summary: s\n# previous: yes\n# programs: needrestart jq\n" + BODY)
        self.assertEqual((parsed.previous, parsed.programs), (True, ("needrestart", "jq")))

    def test_one_cpu_and_a_boot_unless_the_header_says_otherwise(self):
        parsed = self.parse("# summary: s\n" + BODY)
        self.assertEqual((parsed.cpus, parsed.start), (1, "boot"))
        parsed = self.parse("# summary: s\n# cpus: 2\n# start: snapshot\n" + BODY)
        self.assertEqual((parsed.cpus, parsed.start), (2, "snapshot"))
        for more in ("kernel: quiet", "skip-idle: yes"):
            with self.assertRaises(LabError) as caught:
                self.parse(f"# summary: s\n# start: snapshot\n# {more}\n" + BODY)
            self.assertIn("there is no boot", str(caught.exception))

    def test_a_machine_is_what_its_scenario_says(self):
        def argv(**more):
            return " ".join(Machine(Path("d"), Path("i"), Path("k"), Path("s"), 1, **more).argv())
        self.assertIn("-smp 1", argv())
        self.assertIn("-smp 2", argv(cpus=2))
        self.assertNotIn("tcg", argv(accel="kvm"))
        self.assertIn("sleep=on", argv())
        self.assertIn("sleep=off", argv(skip_idle=True))
        for more in ({"cpus": 2}, {"peers": True}, {"accel": "kvm"}):
            self.assertNotIn("-icount", argv(**more))
        self.assertIn("-incoming defer", argv(incoming=Path("/x")))

    def test_a_snapshot_is_of_a_topology(self):
        def topology(more):
            return self.parse(f"# summary: s\n# {more}\n" + BODY).topology()
        self.assertEqual(topology("port: DOWN"), topology("timeout: 500"))
        self.assertEqual(topology("install: manual"), topology("install: none"))
        for more in ("adapters: 2", "nics: 1", "network: yes"):
            self.assertEqual(topology(more), topology("port: DOWN"))
        self.assertEqual(topology("guests: 2"), topology("guests: 3"))
        for more in ("cpus: 2", "guests: 2", "regular: last", "install: none"):
            self.assertNotEqual(topology(more), topology("port: DOWN"))

    def test_early_is_found(self):
        self.assertTrue(self.parse("# summary: s\nearly() { :; }\n" + BODY).early)

    def test_the_suite_is_the_headers_or_the_options(self):
        plain = self.parse("# summary: s\n" + BODY)
        newer = self.parse("# summary: s\n# suite: trixie\n" + BODY)
        self.assertEqual(wanted([plain, plain], "bookworm"), ["bookworm"])
        self.assertEqual(wanted([plain, newer], "bookworm"), ["bookworm", "trixie"])
        self.assertEqual(wanted([plain, newer], "trixie"), ["trixie"])

    def test_values_from_the_environment(self):
        text = "# summary: s\n# boots: ${PVRDMA_LAB_RACE_BOOTS:-4}\n" + BODY
        for environment, boots in (({}, 4), ({"PVRDMA_LAB_RACE_BOOTS": ""}, 4), ({"PVRDMA_LAB_RACE_BOOTS": "20"}, 20)):
            with unittest.mock.patch.dict(os.environ, environment, clear=True):
                self.assertEqual(self.parse(text).boots, boots)
        with unittest.mock.patch.dict(os.environ, {"PVRDMA_LAB_RACE_BOOTS": "many"}), self.assertRaises(LabError) as caught:
            self.parse(text)
        self.assertIn("x.sh:2: boots: 'many' is not a number from 1 to 100", str(caught.exception))

    def test_clones_are_other_machines(self):
        parsed = self.parse("# summary: s\n# clones: 2\n" + BODY)
        self.assertEqual(parsed.clones, 2)
        self.assertIn("export LAB_CLONE=1\n", payload.settings(parsed, "run", 1))
        self.assertIn("export LAB_CLONE=0\n", payload.settings(parsed, "run"))
        addresses = set()
        for clone in range(3):
            line = " ".join(Machine(Path("d"), Path("i"), Path("k"), Path("s"), 1, 1, clone=clone).argv())
            addresses.update(re.findall(r"mac=(\S+)", line))
        self.assertEqual(len(addresses), 9)
        self.assertIn("00:50:56:00:02:10", addresses)

    def test_the_guest_is_told_what_races_are_wanted(self):
        plain = self.parse("# summary: s\n" + BODY)
        with unittest.mock.patch.dict(os.environ, {"PVRDMA_LAB_RACE_MANAGERS": "a b", "PVRDMA_LAB_CACHE": "/x"}):
            told = payload.settings(plain, "run")
        self.assertIn("export PVRDMA_LAB_RACE_MANAGERS='a b'\n", told)
        self.assertNotIn("PVRDMA_LAB_CACHE", told)

    def test_errors_name_the_line(self):
        for text, part in (("# sumary: s\n", "x.sh:1: unknown directive 'sumary'"),
                           ("# summary: s\n# adapters: 5\n", "x.sh:2: adapters: '5' is not a number from 0 to 4"),
                           ("# summary: s\n# port: UP\n", "'UP' is not one of"),
                           ("# summary: s\n# start: later\n", "start: 'later' is not one of boot, snapshot"),
                           ("# summary: s\n# cpus: 3\n", "cpus: '3' is not a number from 1 to 2"),
                           ("# summary: s\n# suite: sid\n", "'sid' is not one of bookworm, trixie, "),
                           ("# adapters: 1\n", "no `# summary:`")):
            with self.assertRaises(LabError) as caught:
                self.parse(text + BODY)
            self.assertIn(part, str(caught.exception))
        with self.assertRaises(LabError):
            self.parse("# summary: s\n")

    def test_all_of_the_tree_are_well_formed(self):
        self.assertTrue(scenario.load_all())
        for name in ("install", "snapshot", "trial", "demo"):
            self.assertTrue(scenario.load(paths.GUEST / f"{name}.sh"))


if __name__ == "__main__":
    unittest.main()
