# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a guest whose CPUs do not run: a real QEMU with nothing to boot."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

from labkit import boot, guest as guests, machine, scenario

STANDING = "-S"  # QEMU's: the CPUs are not started
LIMITS = {"SIGN_OF_LIFE": 0.5, "KEY_EFFECT": 0.2, "START": 2, "GRACE": 0}


def argv_of(directory):
    argv = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-machine", "pc", "-accel", "tcg",
            "-smp", "2", "-m", "64M", STANDING, "-qmp", f"unix:{directory}/qmp,server=off", "-device", "virtio-serial",
            "-chardev", f"file,id=console,path={directory}/console.log,append=on", "-serial", "chardev:console"]
    for name in machine.PORTS:
        argv += ["-chardev", f"socket,id={name},path={directory}/{name}",
                 "-device", f"virtserialport,chardev={name},name=lab.{name}"]
    return argv


class StandingStill(unittest.TestCase):
    def result_of(self, console, sign_of_life=None):
        """The result of a guest that has written this text to its console."""
        def argv(tested):
            (tested.directory / "console.log").write_text(console, encoding="ascii")
            return argv_of(tested.directory)

        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(machine.Machine, "argv", argv), \
                unittest.mock.patch.multiple(boot, **LIMITS), unittest.mock.patch("labkit.payload.write"):
            disk = Path(directory) / "disk.raw"
            disk.write_bytes(bytes(1 << 20))
            tested = guests.Guest(scenario.parse(Path("x.sh"), "# summary: s\n# adapters: 0\nscenario() { :; }\n"),
                                  guests.Start(Path(directory), disk, Path("/nothing"), {}))
            tested.sign_of_life = sign_of_life
            try:
                return tested.run()
            finally:
                tested.close()

    def test_from_its_start_it_is_a_failure_with_its_registers(self):
        result = self.result_of("")
        self.assertEqual((result.status, result.boots), (boot.DEAD, 1))
        self.assertIn("FAIL: nothing came from the guest", result.output)
        self.assertRegex(result.output, "CPU#1\n(.*\n)*[ER]IP=")

    def test_a_guest_may_have_a_shorter_limit(self):
        with unittest.mock.patch.dict(LIMITS, SIGN_OF_LIFE=60):
            result = self.result_of("", sign_of_life=0.5)
        self.assertEqual(result.status, boot.DEAD)
        self.assertLess(result.seconds, 60)

    def test_after_a_word_it_is_a_failure_with_console_and_registers(self):
        result = self.result_of("[    1.0] a word\n")
        self.assertEqual((result.status, result.boots), (boot.TIMED_OUT, 1))
        self.assertIn("a word", result.output)
        self.assertRegex(result.output, "CPU#1\n(.*\n)*[ER]IP=")

    def test_time_without_a_cpu_of_the_hosts_is_no_part_of_the_limit(self):
        with unittest.mock.patch("labkit.boot.delayed", return_value=3.0):
            result = self.result_of("[    1.0] a word\n")
        self.assertEqual(result.status, boot.TIMED_OUT)
        self.assertGreaterEqual(result.seconds, LIMITS["START"] + 3)


if __name__ == "__main__":
    unittest.main()
