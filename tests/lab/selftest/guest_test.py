# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a guest whose CPUs do not run, or that goes down by itself: a real QEMU without an operating system."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

from labkit import boot, guest as guests, machine, scenario

STANDING = ["-S"]  # QEMU's: the CPUs are not started
LOADING = ["-incoming", "defer"]  # QEMU's: a snapshot is expected, and never comes
# A boot sector of x86: mov $0xfe,%al; out %al,$0x64; hlt. The keyboard controller resets the CPU.
RESETTING = b"\xb0\xfe\xe6\x64\xf4".ljust(510, b"\0") + b"\x55\xaa"
LIMITS = {"SIGN_OF_LIFE": 0.5, "KEY_EFFECT": 0.2, "START": 2, "GRACE": 0}


def argv_of(directory, more):
    argv = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-machine", "pc", "-accel", "tcg",
            "-smp", "2", "-m", "64M", "-no-reboot", *more, "-qmp", f"unix:{directory}/qmp,server=off", "-device", "virtio-serial",
            "-chardev", f"file,id=console,path={directory}/console.log,append=on", "-serial", "chardev:console"]
    for name in machine.PORTS:
        argv += ["-chardev", f"socket,id={name},path={directory}/{name}",
                 "-device", f"virtserialport,chardev={name},name=lab.{name}"]
    return argv


class WithoutASystem(unittest.TestCase):
    def result_of(self, console, sign_of_life=None, sector=None, boots=1, state=STANDING):
        """The result of a guest that has written this text to its console, and that runs this boot sector, if there is one."""
        def argv(tested):
            (tested.directory / "console.log").write_text(console, encoding="ascii")
            (tested.directory / "sector").write_bytes(sector or b"")
            return argv_of(tested.directory, ["-drive", f"file={tested.directory}/sector,format=raw"] if sector else state)

        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(machine.Machine, "argv", argv), \
                unittest.mock.patch.multiple(boot, **LIMITS), unittest.mock.patch("labkit.payload.write"):
            disk = Path(directory) / "disk.raw"
            disk.write_bytes(bytes(1 << 20))
            tested = guests.Guest(scenario.parse(Path("x.sh"), f"# summary: s\n# adapters: 0\n# boots: {boots}\nscenario() {{ :; }}\n"),
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

    def test_while_a_snapshot_is_loaded_it_is_not_dead(self):
        result = self.result_of("", state=LOADING)
        self.assertEqual(result.status, boot.TIMED_OUT)
        self.assertGreaterEqual(result.seconds, LIMITS["START"])

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

    def test_a_reset_of_its_own_is_a_failure_also_before_the_last_boot(self):
        for boots in (1, 2):
            with unittest.mock.patch.dict(LIMITS, START=60):
                result = self.result_of("a word\n", sector=RESETTING, boots=boots)
            self.assertEqual((result.status, result.boots), (1, 1))
            self.assertIn("FAIL: the guest went down without a result", result.output)


if __name__ == "__main__":
    unittest.main()
