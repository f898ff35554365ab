// SPDX-License-Identifier: GPL-2.0-or-later
// Finds in the kernel's log why a driver was not loaded, or why its probe of a function failed.
#include <algorithm>

#include "agent/base/file.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;

namespace {

using Cause = DriverComplaint::Cause;

// Turns dmesg(1)'s lines into records of /dev/kmsg with the kernel's facility.
std::string records_of(std::string_view dmesg, const std::string& priority = "6") {
  std::string records;
  while (!dmesg.empty()) {
    std::string_view line = cut(dmesg, '\n');
    if (const auto end = line.find("] "); line.starts_with('[') && end != std::string_view::npos)
      line.remove_prefix(end + 2);
    records += priority + ",339,5140900,-;" + std::string{line} + "\n";
  }
  return records;
}

DriverComplaint only(const std::string& dmesg) {
  const auto complaints = parse_driver_complaints(records_of(dmesg));
  REQUIRE(complaints.size() == 1);
  return complaints.front();
}

std::string kernel_log(const std::string& name) {
  return read_file(std::string{places::fixtures} + "/field/" + name).value();
}

}  // namespace

TEST_CASE("a probe's failure: a wrong order is told from a fault of the host") {
  CHECK(only(kernel_log("dmesg-needs-roce.txt")) ==
        DriverComplaint{Cause::NoRoce, "0000:00:04.0",
                        "vmw_pvrdma 0000:00:04.0: driver needs RoCE v1 or v2 support"});
  CHECK(only(kernel_log("dmesg-order-new-kernel.txt")) ==
        DriverComplaint{Cause::Order, "0000:0b:00.1",
                        "vmw_pvrdma 0000:0b:00.1: failed to get vmxnet3 device"});
  // The driver core's line alone is enough, in the form of old kernels and of new ones.
  CHECK(only("vmw_pvrdma: probe of 0000:0b:00.1 failed with error -19").cause == Cause::Order);
  CHECK(only("vmw_pvrdma 0000:0b:00.1: probe with driver vmw_pvrdma failed with error -14").cause ==
        Cause::Probe);
}

TEST_CASE("a probe's failure: the last probe of each function counts") {
  const std::string order = kernel_log("dmesg-order-new-kernel.txt");
  const std::string again = "vmw_pvrdma 0000:0b:00.1: device version 20, driver version 20\n";
  CHECK(parse_driver_complaints(records_of(order + again)).empty());
  CHECK(only(order + again + "vmw_pvrdma 0000:0b:00.1: driver needs RoCE v1 or v2 support").cause ==
        Cause::NoRoce);
  CHECK(parse_driver_complaints(records_of(order + kernel_log("dmesg-needs-roce.txt"))).size() ==
        2);
}

TEST_CASE("a missing module is told from a vendor's module") {
  const auto cause = [](const std::string& line) { return only(line).cause; };
  CHECK(cause("vmw_pvrdma: Unknown symbol ib_dealloc_device (err -2)") == Cause::MissingSymbol);
  CHECK(cause("ib_uverbs: Unknown symbol ib_unregister_client (err -2)") == Cause::MissingSymbol);
  CHECK(cause("vmw_pvrdma: disagrees about version of symbol ib_register_device\n"
              "vmw_pvrdma: Unknown symbol ib_register_device (err -22)") == Cause::OtherVersion);
  CHECK(parse_driver_complaints(records_of("nvidia: Unknown symbol x (err -2)")).empty());
}

TEST_CASE("a line that a process wrote into the kernel's log does not count") {
  CHECK(parse_driver_complaints(records_of("vmw_pvrdma: Unknown symbol x (err -2)", "12")).empty());
  CHECK(parse_driver_complaints("").empty());
  CHECK(parse_driver_complaints("x;vmw_pvrdma: Unknown symbol x (err -2)\n;\n6,1,1,-\n").empty());
}
