# SPDX-License-Identifier: GPL-2.0-or-later
"""One QEMU process: the virtual machine of a lab guest, and the paths of its sockets and files.

The machine has one virtual CPU, or as many as the scenario says; a virtio NIC as the VM's regular adapter in slot 0x0f (or 0x1f,
behind all others); PVRDMA adapter N in slot 0x10+N as two functions, vmxnet3 and RDMA; plain vmxnet3 NICs in the slots after them.
QEMU connects to the lab's sockets, so the lab need not poll. Clones have MAC addresses of their own.
"""

import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from .errors import run

MEMORY = "1024M"
FIRST_SLOT = 0x10
REGULAR_SLOTS = {"first": 0x0F, "last": 0x1F}
PORTS = ("out", "ctl")
OWN_INITRD, OWN_INITRD_SIZE = "initrd.own", 96 << 20

# The clock of one emulated CPU counts its instructions, 2 ns each, and follows the real time only while the CPU is idle. So limits
# in the guest do not depend on the load of this machine, and boots can be compared. Several CPUs run in parallel, which races
# need, and guests that communicate share the real time.
COUNTED = ("tcg,thread=single", "-icount", "shift=1,sleep=on")
# While the CPU is idle its clock goes on to the next timer at once: hours pass in minutes, and an answer of the host seems late.
SKIPPED_IDLE = ("tcg,thread=single", "-icount", "shift=1,sleep=off")
ACCEL = {"tcg": ("tcg,thread=multi",), "kvm": ("kvm",)}
# An emulated CPU is slow, so it has no work that no scenario is about. The CPU is a plain x86-64 with the instructions of string
# functions, but without AVX, whose state each switch of tasks would save. The drivers below are for old hardware of a PC, and for
# acceleration that emulation does not accelerate.
CPU = {"tcg": "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand,-svm", "kvm": "host"}
UNUSED_DRIVERS = ("floppy", "pcspkr", "psmouse", "ata_piix", "ata_generic", "i2c_piix4", "powernow_k8", "acpi_cpufreq",
                  "aesni_intel", "ghash_clmulni_intel", "sha512_ssse3", "sha256_ssse3", "crct10dif_pclmul",
                  "crc32_pclmul", "polyval_clmulni")
# norandmaps: code that was translated for one process also serves the next process with the same code at the same address, which
# saves a fifth of a boot. mitigations: an emulated CPU has none of these faults.
# no_timer_check: on a busy machine the kernel's test of its timer may wait in vain, and the kernel panics.
# sysrq_always_enabled: the lab asks a hanging guest by keyboard for its blocked tasks. init_on_alloc: pages are not zeroed twice.
# acpi=noirq: otherwise the kernel interprets the whole table of interrupts for each device that is enabled, a seventh of a second;
# all devices here have MSI-X. rodata: the kernel would check all its pages for being writable. psi, cgroup.memory: the kernel would
# account each switch of tasks and each of its pages. lsm: the kernel would ask modules without a policy about each file.
# initcall_blacklist: the HPET as a device, which no program uses, takes half a second; a check of the list of functions that can be
# traced takes a third. rep_good: the kernel would copy by string instructions, which are emulated word by word.
KERNEL_ARGUMENTS = ("console=ttyS0", "root=/dev/vda", "rw", "panic=-1", "quiet", "no_timer_check", "sysrq_always_enabled",
                    "init_on_alloc=0", "rodata=off", "acpi=noirq", "norandmaps", "mitigations=off", "cryptomgr.notests", "8250.nr_uarts=1",
                    "psi=0", "cgroup.memory=nokmem,nosocket", "lsm=landlock,lockdown,yama,apparmor",
                    "initcall_blacklist=hpet_late_init,ftrace_check_for_weak_functions",
                    "clearcpuid=rep_good", "modprobe.blacklist=" + ",".join(UNUSED_DRIVERS))
# A single CPU uses the timer of the HPET. To calibrate that of the APIC the kernel counts for a tenth of a second in a loop, which
# takes an emulated CPU two seconds.
SINGLE_EMULATED_CPU = ("noapictimer",)
# Units of the distribution that no scenario is about and that take an emulated CPU time.
UNUSED_UNITS = ("getty@tty1.service", "e2scrub_reap.service", "e2scrub_all.timer", "fstrim.timer", "dpkg-db-backup.timer",
                "apt-daily.timer", "apt-daily-upgrade.timer", "systemd-pcrphase.service",
                "systemd-pcrphase-sysinit.service", "systemd-pstore.service", "systemd-random-seed.service",
                "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service", "modprobe@configfs.service",
                "modprobe@drm.service", "modprobe@efi_pstore.service", "modprobe@fuse.service",
                "sys-kernel-config.mount", "sys-fs-fuse-connections.mount", "dev-hugepages.mount",
                "dev-mqueue.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount", "systemd-binfmt.service",
                "proc-sys-fs-binfmt_misc.automount", "modprobe@loop.service", "modprobe@dm_mod.service",
                "systemd-sysusers.service", "systemd-logind.service")
# These units load modules of other fabrics at every boot, and some of the modules that the agent loads.
LOADERS = ("rdma-load-modules@rdma.service", "rdma-load-modules@roce.service")
LOGIN = ("serial-getty@ttyS0.service",)  # not needed unless the console is interactive


def _copy_memory(source, target):
    run("copying a guest's memory", ["cp", "--sparse=always", source, target])


def counted(cpus, peers):
    """Whether the clock of an emulated guest with so many CPUs, and with or without other guests, counts instructions."""
    return cpus == 1 and not peers


@dataclass
class Machine:
    directory: Path              # sockets, logs, port files: one machine's own
    image: Path                  # kernel, initrd.lab
    disk: Path                   # qcow2, written to
    standin: Path                # the HCA stand-in's library
    adapters: int
    nics: int = 0
    peers: bool = False          # other guests are behind each adapter, and behind the HCA stand-in
    network: bool = False        # a network with DHCP behind each adapter
    initrd: str = "lab"          # lab or own, see scenario.py
    append: list = field(default_factory=list)
    loaders: bool = False        # rdma-core's own units load modules
    regular_slot: int = REGULAR_SLOTS["first"]
    clone: int = 0               # the byte of its MAC addresses before the last
    cpus: int = 1
    accel: str = "tcg"
    incoming: Path = None        # the folder of a snapshot: the machine goes on from there
    interactive: bool = False    # the guest's serial console on our terminal
    skip_idle: bool = False      # see scenario.py; not of a snapshot, which has a timer for the idle time
    memory: int = field(default=-1, init=False)  # QEMU's descriptor of the guest's memory

    def argv(self):
        d = self.directory
        console = "mon:stdio" if self.interactive else f"file:{d}/console.log"
        argv = [
            "qemu-system-x86_64", "-name", "lab,debug-threads=on", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            # Saved while it stands still, the machine runs once it is read.
            "-global", "migration.store-global-state=off",
            "-machine", "pc", "-accel", *self._accel(), "-cpu", CPU[self.accel], "-smp", str(self.cpus), "-m", MEMORY,
            # The clock stood still since the snapshot was taken, and the hardware's clock goes on from the same time.
            "-rtc", time.strftime("base=%Y-%m-%dT%H:%M:%S,clock=vm", time.gmtime()),
            "-object", f"memory-backend-file,id=ram,size={MEMORY},share=on,mem-path=/proc/self/fd/{self.memory}",
            "-numa", "node,memdev=ram",
            # The pvrdma device requires memory that can be shared, and looks for it among objects of this type only.
            "-object", "memory-backend-ram,id=unused,size=4096,share=on",
            "-kernel", f"{self.image}/kernel", "-initrd", self._initrd(),
            "-append", " ".join([*KERNEL_ARGUMENTS, *self._timer(), *self._masks(), *self.append]),
            # Only the result of a clean shutdown outlives the run, so the disks need no flushes.
            "-drive", f"file={self.disk},if=virtio,format=qcow2,cache=unsafe",
            "-drive", f"file={d}/payload.tar,if=virtio,format=raw,readonly=on",
            "-serial", console, "-qmp", f"unix:{d}/qmp,server=off", "-device", "virtio-serial",
        ]
        if self.incoming:
            argv += ["-incoming", "defer"]
        if self.initrd == "own":
            argv += ["-drive", f"file={d}/{OWN_INITRD},if=virtio,format=raw,cache=unsafe"]
        for name in PORTS:
            argv += ["-chardev", f"socket,id={name},path={d}/{name}",
                     "-device", f"virtserialport,chardev={name},name=lab.{name}"]
        argv += ["-netdev", "user,id=regular,restrict=on",
                 "-device", f"virtio-net-pci,netdev=regular,addr={self.regular_slot:x}.0,mac=52:54:00:00:{self.clone:02x}:0f"]
        for n in range(self.adapters + self.nics):
            slot = FIRST_SLOT + n
            argv += ["-netdev", f"hubport,hubid={n + 1},id=net{n}",
                     "-device", f"vmxnet3,id=nic{n},netdev=net{n},addr={slot:x}.0,multifunction=on,"
                                f"mac=00:50:56:00:{self.clone:02x}:{slot:02x}"]
            if n < self.adapters and self.peers:
                argv += ["-netdev", f"stream,id=peers{n},server=off,addr.type=unix,addr.path={d}/{n}.net",
                         "-netdev", f"hubport,hubid={n + 1},id=others{n},netdev=peers{n}"]
            if n < self.adapters and self.network:
                net = f"192.168.{30 + n}"
                argv += ["-netdev", f"user,id=host{n},net={net}.0/24,host={net}.2,dhcpstart={net}.100,ipv6=off,restrict=on",
                         "-netdev", f"hubport,hubid={n + 1},id=hosts{n},netdev=host{n}"]
            if n < self.adapters:
                argv += ["-chardev", f"socket,id=mux{n},path={d}/{n}.mux",
                         "-device", f"pvrdma,id=rdma{n},addr={slot:x}.1,ibdev=hca{n},ibport=1,netdev=eth{n},"
                                    f"mad-chardev=mux{n}"]
        return argv

    def _accel(self):
        if self.accel == "tcg" and counted(self.cpus, self.peers):
            return SKIPPED_IDLE if self.skip_idle else COUNTED
        return ACCEL[self.accel]

    def _timer(self):
        return SINGLE_EMULATED_CPU if self.accel == "tcg" and self.cpus == 1 else ()

    def _masks(self):
        units = (*UNUSED_UNITS, *(() if self.interactive else LOGIN), *(() if self.loaders else LOADERS))
        return [f"systemd.mask={unit}" for unit in units]

    def _initrd(self):
        """The initrd. With `own` it is the one that an earlier boot has written to its third disk; before that, the lab's."""
        if self.initrd != "own":
            return f"{self.image}/initrd.lab"
        own, trimmed = self.directory / OWN_INITRD, self.directory / "initrd"
        if not own.exists():
            with open(own, "wb") as disk:
                disk.truncate(OWN_INITRD_SIZE)
        # The kernel skips zeroes after an image (init/initramfs.c); the image's own last bytes may be zeroes too.
        content = own.read_bytes().rstrip(b"\0")
        if not content:
            return f"{self.image}/initrd.lab"
        trimmed.write_bytes(content + bytes(512))
        return str(trimmed)

    def start(self):
        environment = {**os.environ, "LD_PRELOAD": str(self.standin), "PVRDMA_HCA_DIR": str(self.directory),
                       "PVRDMA_HCA_ADAPTERS": str(max(self.adapters, 1))}
        if self.peers:
            environment["PVRDMA_HCA_FABRIC"] = str(self.directory / "fabric")
        self.memory = os.memfd_create("guest")
        try:
            if self.incoming:
                # QEMU itself would take each page of a snapshot from a pipe, which takes longer than a copy.
                _copy_memory(self.incoming / "memory", f"/proc/{os.getpid()}/fd/{self.memory}")
            with open(self.directory / "qemu.log", "ab") as log:
                return subprocess.Popen(self.argv(), env=environment, pass_fds=(self.memory,), stderr=log,
                                        stdin=None if self.interactive else subprocess.DEVNULL,
                                        stdout=None if self.interactive else log)
        finally:
            os.close(self.memory)

    def save_memory(self, pid, path):
        """Writes the memory of the machine, whose QEMU is process `pid` and stands still, to a file."""
        _copy_memory(f"/proc/{pid}/fd/{self.memory}", path)
