// SPDX-License-Identifier: GPL-2.0-or-later
// Crashes and lockups of the kernel, in its log and its taint flags.
#include "agent/tools/doctor/survey_probe.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using pvrdma::test::Tree;

TEST_CASE("a crash in the kernel's log: the driver's before any other") {
  CHECK(parse_kernel_log("6,1,5,-;vmw_pvrdma: attached\n SUBSYSTEM=pci\n").is_absent());
  const std::string other =
      "1,10,5,-;BUG: kernel NULL pointer dereference, address: 8\n"
      "4,11,5,-;Modules linked in: vmw_pvrdma(OE) [last unloaded: vmw_pvrdma]\n"
      "4,12,5,-;Call Trace:\n4,13,5,-; foo+0x1/0x2 [foo]\n"
      "4,14,5,-;---[ end trace 0000000000000000 ]---\n";
  CHECK(parse_kernel_log(other).is({"BUG: kernel NULL pointer dereference, address: 8", false}));
  const std::string ours =
      "4,20,5,-;Oops: 0002 [#2] PREEMPT SMP\n"
      "4,21,5,-; pvrdma_netdevice_event_work+0x3b/0x60 [vmw_pvrdma]\n";
  CHECK(parse_kernel_log(other + ours).is({"Oops: 0002 [#2] PREEMPT SMP", true}));
  // A line of the driver outside of a crash does not count.
  CHECK(parse_kernel_log(other + "4,22,5,-;foo [vmw_pvrdma]\n").get()->in_driver == false);
}

TEST_CASE("a soft lockup in the kernel's log: the driver's before any other") {
  const std::string first = "watchdog: BUG: soft lockup - CPU#0 stuck for 23s! [kworker/u4:0:45]";
  const std::string other = "0,10,5,-;" + first +
                            "\n4,11,5,-;Modules linked in: vmw_pvrdma(OE)\n"
                            "4,12,5,-;RIP: 0010:foo+0x1/0x2 [foo]\n"
                            "4,13,5,-;Call Trace:\n4,14,5,-; <TASK>\n4,15,5,-; bar+0x1/0x2\n";
  const std::string end = "4,16,5,-; </TASK>\n";
  const std::string of_driver = "4,20,5,-;RIP: 0010:pvrdma_poll_cq+0x1/0x2 [vmw_pvrdma]\n";
  CHECK(parse_kernel_log(other + end).is({first, false}));
  const std::string ours = "0,19,5,-;watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:7]\n";
  CHECK(parse_kernel_log(other + end + ours + of_driver)
            .is({"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:7]", true}));
  CHECK(parse_kernel_log(other + end + of_driver).is({first, false}));
  // Older kernels do not mark the end of the stack.
  CHECK(parse_kernel_log(other + ours + of_driver)
            .is({"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:7]", true}));
  CHECK(parse_kernel_log(other + "4,19,5,-;------------[ cut here ]------------\n" + of_driver)
            .is({first, false}));
  // Reports of another kind, in which a process may be waiting within the driver.
  for (const std::string report :
       {"python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0",
        "python3: page allocation failure: order:9, mode:0xcc0(GFP_KERNEL)",
        "INFO: task python3:812 blocked for more than 120 seconds."}) {
    CAPTURE(report);
    CHECK(parse_kernel_log(other + "3,19,5,-;" + report + "\n" + of_driver).is({first, false}));
  }
}

TEST_CASE("a line of the driver in a crash, with a build ID, or of a work item") {
  const std::string crash = "4,20,5,-;Oops: 0002 [#2] PREEMPT SMP\n";
  for (const std::string line :
       {" pvrdma_poll_cq+0x1/0x2 [vmw_pvrdma 4b8243c1d5e0f6a7b8c9d0e1f2a3b4c5d6e7f809]",
        "Workqueue: pvrdma_event_wq pvrdma_netdevice_event_work [vmw_pvrdma]"}) {
    CAPTURE(line);
    CHECK(parse_kernel_log(crash + "4,21,5,-;" + line + "\n")
              .is({"Oops: 0002 [#2] PREEMPT SMP", true}));
  }
}

TEST_CASE("without a line in the log the taint flag tells of the crash") {
  const Tree tree;
  tree.file("/dev/kmsg", "6,1,5,-;quiet\n");
  tree.file("/proc/sys/kernel/tainted", "4096\n");
  CHECK(look_for_kernel_crash(tree.root()).is_absent());
  tree.file("/proc/sys/kernel/tainted", "4224\n");  // 4096, and 128: died
  CHECK(look_for_kernel_crash(tree.root()).is(KernelCrash{}));
  tree.remove("/dev/kmsg");
  CHECK(look_for_kernel_crash(tree.root()).is(KernelCrash{}));
  tree.remove("/proc/sys/kernel/tainted");
  CHECK(look_for_kernel_crash(tree.root()).is_unreadable());
}

TEST_CASE("lines that any process can write into the kernel's log are no crash") {
  const Tree tree;
  const std::string segfaults =
      "6,1,5,-;BUG: x[811]: segfault at 0 ip 1 sp 2 error 6 in x[400000+1000]\n"
      "6,2,5,-;[vmw_pvrdma][812]: segfault at 0 ip 1 sp 2 error 6\n";
  tree.file("/dev/kmsg", segfaults);
  tree.file("/proc/sys/kernel/tainted", "0\n");
  CHECK(look_for_kernel_crash(tree.root()).is_absent());
  tree.file("/proc/sys/kernel/tainted", "128\n");  // died, but the log does not tell why
  CHECK(look_for_kernel_crash(tree.root()).is(KernelCrash{}));

  tree.file("/dev/kmsg", segfaults + "1,3,5,-;watchdog: BUG: soft lockup\n" + segfaults);
  CHECK(look_for_kernel_crash(tree.root()).is({"watchdog: BUG: soft lockup", false}));
  const std::string ours = "1,4,5,-;watchdog: BUG: soft lockup\n4,5,5,-; f+0x1/0x2 [vmw_pvrdma]\n";
  tree.file("/dev/kmsg", segfaults + ours);
  tree.file("/proc/sys/kernel/tainted", "16384\n");  // locked up
  CHECK(look_for_kernel_crash(tree.root()).is({"watchdog: BUG: soft lockup", true}));
  tree.file("/dev/kmsg", "6,1,5,-;quiet\n");
  CHECK(look_for_kernel_crash(tree.root()).is_absent());
  // A crash that only the log tells of is not known.
  tree.file("/dev/kmsg", ours);
  tree.remove("/proc/sys/kernel/tainted");
  const auto unknown = look_for_kernel_crash(tree.root());
  REQUIRE(unknown.is_unreadable());
  CHECK(unknown.error()->message().find("/proc/sys/kernel/tainted") != std::string::npos);
}

TEST_CASE("a process's name puts the driver into no crash") {
  const std::string out_of_memory =
      "4,1,5,-;BUG: x invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\n"
      "4,2,5,-;CPU: 0 PID: 7 Comm: [vmw_pvrdma] Not tainted 6.1.0\n"
      "6,3,5,-;[      7]     0     7     1  2 [vmw_pvrdma]\n"
      "4,4,5,-;BUG: x: page allocation failure: order:9\n";
  CHECK(parse_kernel_log(out_of_memory).is_absent());
  // What a process has written into the log, as systemd and dracut do, has another facility.
  CHECK(parse_kernel_log("12,1,5,-;BUG: mine\n12,2,5,-; f+0x1/0x2 [vmw_pvrdma]\n").is_absent());
  const std::string other = "1,5,5,-;BUG: unable to handle page fault for address: 8\n";
  for (const std::string name : {"[vmw_pvrdma]", "+0x[vmw_pvrdma]", "/ [vmw_pvrdma]"}) {
    CAPTURE(name);
    CHECK(parse_kernel_log(other + "4,6,5,-;CPU: 0 PID: 7 Comm: " + name + " Not tainted\n")
              .is({"BUG: unable to handle page fault for address: 8", false}));
  }
}
