# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages, requests for faults, the cache and reports: parts of the lab that can be tested without a guest."""

import contextlib
import io
import shutil
import subprocess
import tempfile
import threading
import unittest
import unittest.mock
from pathlib import Path

from labkit import chroot, image, paths, payload, previous
from labkit.cache import Cache, key_of
from labkit.cmd_run import Report
from labkit.errors import LabError
from labkit.faults import Faults
from labkit.machine import Machine
from labkit.suites import SUITES


class Initrd(unittest.TestCase):
    def test_the_guests_own_follows_the_labs(self):
        with tempfile.TemporaryDirectory() as directory:
            guest = Machine(Path(directory), Path("/image"), Path("/disk"), Path("/standin"), 1, initrd="own")

            def initrd():
                argv = guest.argv()
                self.assertIn(f"file={directory}/initrd.own,if=virtio,format=raw,cache=unsafe", argv)
                return argv[argv.index("-initrd") + 1]

            self.assertEqual(initrd(), "/image/initrd.lab")
            self.assertEqual(initrd(), "/image/initrd.lab")
            with open(Path(directory) / "initrd.own", "r+b") as disk:
                disk.write(b"0707 image\0")
            content = Path(initrd()).read_bytes()
            self.assertTrue(content.startswith(b"0707 image\0"))
            self.assertLess(len(content), 1024)


class KernelFaults(unittest.TestCase):
    def test_those_of_all_kernels_are_found(self):
        script = 'eval "$(grep ^kernel_faults= "$1")"; grep -cE "$kernel_faults"'
        for line, count in (("WARNING: CPU: 0 PID: 7 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110", "1"),
                            ("WARNING: lib/refcount.c:28 at refcount_warn_saturate+0xba/0x110, CPU#0: modprobe/7", "1"),
                            ("refcount: WARNING: [lib/refcount.c:28] refcount_warn_saturate, CPU#1: kworker/7", "1"),
                            ("BUG: kernel NULL pointer dereference, address: 0000000000000008", "1"),
                            ("kernel BUG at lib/list_debug.c:62!", "1"),
                            ("invalid opcode: 0000 [#1] PREEMPT SMP NOPTI", "1"),
                            ("traps: stress[812] trap invalid opcode ip:55d0 sp:7ffd error:0", "0"),
                            ("WARNING: this module is for tests", "0")):
            done = subprocess.run(["bash", "-c", script, "bash", paths.GUEST / "expect.sh"], input=line, text=True,
                                  stdout=subprocess.PIPE, check=False)
            self.assertEqual(done.stdout.strip(), count, line)


class PackagesForGuests(unittest.TestCase):
    def found(self, suite, names):
        with tempfile.TemporaryDirectory() as directory, \
                unittest.mock.patch("labkit.distribution.package", return_value=Path("system.rpm")):
            for name in names:
                (Path(directory) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(directory) / name).touch()
            return {folder: [path.name for path in files]
                    for folder, files in payload.find_packages(Path(directory), SUITES[suite], required=True).items()}

    def test_all_suites_have_one_deb_or_one_rpm(self):
        names = ("trixie/a_2.deb", "portable/a_1.deb", "portable/a-dbgsym_1.deb", "portable/cockpit-a_1.deb", "portable/vmw-a_1.deb", "rpm/a-1.rpm",
                 "rpm/a-1.src.rpm", "rpm/cockpit-a-1.rpm", "rpm/next/a-1.next.rpm", "rpm/next/cockpit-a-1.next.rpm")
        for suite in ("bookworm", "trixie"):
            self.assertEqual(self.found(suite, names), {"debs": ["a_1.deb"]})
        self.assertEqual(self.found("dracut", names),
                         {"rpms": ["a-1.rpm"], "next": ["a-1.next.rpm"], "system": ["system.rpm"]})

    def test_what_is_missing_is_said_with_what_builds_it(self):
        names = ("bookworm/a_1.deb", "rpm/a-1.src.rpm")
        for suite, builder in (("trixie", "packaging/build-deb --portable"), ("dracut", "packaging/build-rpm")):
            with self.assertRaises(LabError) as caught:
                self.found(suite, names)
            self.assertIn(builder, str(caught.exception))


class Packages(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def deb(self, folder):
        tree = self.directory / folder / "tree" / "DEBIAN"
        tree.mkdir(parents=True)
        (tree / "control").write_text("Package: x\nVersion: 1.2\nArchitecture: all\nMaintainer: x <x@x>\nDescription: x\n")
        built = self.directory / folder / "x_1.2_all.deb"
        subprocess.run(["dpkg-deb", "-b", tree.parent, built], check=True, stdout=subprocess.DEVNULL)
        return built

    def test_the_previous_version_has_a_lower_number(self):
        built = self.deb("trixie")
        found = previous.packages("trixie", [built], Cache(self.directory / "cache"))
        version = [subprocess.run(["dpkg-deb", "-f", deb, "Version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
                   for deb in (*found, built)]
        self.assertEqual(len(found), 1)
        self.assertEqual(subprocess.run(["dpkg", "--compare-versions", version[0], "lt", version[1]], check=False).returncode, 0)

    def test_a_chroot_depends_on_build_dependencies_only(self):
        control = self.directory / "control"
        control.write_text("Source: x\nBuild-Depends:\n a,\n b (>= 2),\nStandards-Version: 1\n\nPackage: x\nDepends: c\n")
        self.assertEqual(chroot.build_depends(control), "Build-Depends:\n a,\n b (>= 2),\n")


class FaultRequests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.faults = Faults(self.directory, 2, "ACTIVE")
        self.addCleanup(self.faults.close)

    def port(self, adapter):
        return (self.directory / f"{adapter}.port").read_text(encoding="ascii")

    def test_port_and_phys(self):
        self.assertEqual(self.port(0), "4 5\n")
        self.assertEqual(self.faults.answer("port 0 DOWN"), "ok")
        self.assertEqual((self.port(0), self.port(1)), ("1 3\n", "4 5\n"))
        self.assertEqual(self.faults.answer("phys 0 2"), "ok")
        self.assertEqual(self.port(0), "1 2\n")

    def test_bad_requests_are_answered(self):
        for request in ("", "port", "port 7 DOWN", "port x DOWN", "port 0 SIDEWAYS", "link 0 left", "explode 0"):
            self.assertTrue(self.faults.answer(request).startswith("error "), request)

    def test_marks_reach_the_timeline(self):
        self.faults.answer("mark here we are")
        self.assertIn("host mark here we are", (self.directory / "timeline").read_text(encoding="utf-8"))


class TheCache(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.cache = Cache(directory.name)
        self.built = []

    def entry(self, key, keep=3, kind="thing"):
        def build(path):
            self.built.append(key)
            (path / "content").write_text(key, encoding="ascii")
        return self.cache.entry(kind, key, build, keep)

    def test_built_once(self):
        self.entry("a").release()
        entry = self.entry("a")
        self.assertEqual((entry / "content").read_text(encoding="ascii"), "a")
        self.assertEqual(self.built, ["a"])
        entry.release()

    def test_a_failed_build_leaves_nothing(self):
        def broken(path):
            (path / "half").touch()
            raise LabError("broken")
        with self.assertRaises(LabError):
            self.cache.entry("thing", "b", broken)
        self.assertFalse(list(self.cache.root.glob("thing-*")))
        self.entry("b").release()

    def test_concurrent_users_build_once(self):
        threads = [threading.Thread(target=lambda: self.entry("c").release()) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.built, ["c"])

    def test_pruning_spares_what_is_in_use(self):
        held = self.entry("held")
        for key in ("d", "e", "f"):
            self.entry(key, keep=1).release()
        self.assertEqual(sorted(path.name for path in self.cache.root.glob("thing-*")), ["thing-f", "thing-held"])
        held.release()

    def test_what_somebody_else_has_pruned_is_passed_over(self):
        self.entry("d").release()
        lock = self.cache._lock  # pylint: disable=protected-access

        def pruned_meanwhile(name):
            shutil.rmtree(self.cache.root / name, ignore_errors=True)
            return lock(name)
        self.entry("e").release()
        with unittest.mock.patch.object(self.cache, "_lock", pruned_meanwhile):
            self.cache._prune("thing", 1)  # pylint: disable=protected-access
        self.assertEqual([path.name for path in self.cache.root.glob("thing-*")], ["thing-e"])

    def test_suites_do_not_prune_each_other(self):
        with unittest.mock.patch("labkit.host.need_root"), unittest.mock.patch("labkit.image._build_base") as build:
            build.side_effect = lambda cache, suite, directory: (directory / "disk.raw").touch()
            image.base(SUITES["bookworm"], self.cache).release()
            for size in range(5):
                with unittest.mock.patch("labkit.image.DISK_SIZE", size):
                    image.base(SUITES["trixie"], self.cache).release()
        kept = [path.name.split("-")[1] for path in self.cache.root.glob("image-*")]
        self.assertEqual(sorted(kept), ["bookworm", "trixie", "trixie", "trixie"])

    def test_keys(self):
        with tempfile.NamedTemporaryFile() as one:
            before = key_of("x", Path(one.name))
            self.assertEqual(before, key_of("x", Path(one.name)))
            one.write(b"more")
            one.flush()
            self.assertNotEqual(before, key_of("x", Path(one.name)))
        self.assertNotEqual(key_of("ab"), key_of("a", "b"))


class Reports(unittest.TestCase):
    def test_lines_and_total(self):
        text = io.StringIO()
        report = Report(verbose=False)
        with contextlib.redirect_stdout(text):
            report.add("one", "it works", 0, "secret\n", 1.23)
            report.add("one", "it works", 77, "SKIP: not here\n", 2)
            report.add("one", "it works", 3, "because\n", 4)
        self.assertEqual(text.getvalue(), "PASS one (1.2 s) it works\nSKIP one (2.0 s) not here\n"
                                          "FAIL one (4.0 s) it works\n  | because\n")
        self.assertEqual(report.total(), "1 passed, 1 failed, 1 skipped")


if __name__ == "__main__":
    unittest.main()
