// SPDX-License-Identifier: GPL-2.0-or-later
// Probes run one at a time, on a made-up sysfs of three adapters that have lost their driver.
#include <future>
#include <utility>

#include "agent/executor/driver.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

using test::kBind;

using Steps = std::vector<std::string>;

struct ProbingFixture {
  test::Tree tree;
  Steps steps;

  ProbingFixture() {
    test::add_adapter(tree, "net13", 5);
    std::filesystem::remove(tree / (device("13") + "/driver"));
    for (const char* bus : {"11", "12"}) {
      test::identify_adapter(tree, device(bus),
                             std::string{"/sys/bus/pci/devices/0000:"} + bus + ":00.0");
    }
    for (const char* bus : {"11", "12", "13"})
      tree.file(device(bus) + "/driver_override", "(null)\n");
  }

  static std::string function(const std::string& bus) { return "0000:" + bus + ":00.1"; }
  static std::string device(const std::string& bus) {
    return "/sys/bus/pci/devices/" + function(bus);
  }
  std::string override_of(const std::string& bus) const {
    return tree.read(device(bus) + "/driver_override");
  }

  // The functions that are held back now.
  std::string held() const {
    std::string text;
    for (const char* bus : {"11", "12", "13"})
      if (override_of(bus).rfind(kHeldBack, 0) == 0) text += std::string{" "} + bus;
    return text;
  }
  void worker(const std::string& name, char state) const {
    tree.file("/proc/31/stat", "31 (" + name + ") " + state + " 2 0 0 0 -1 69238880 0\n");
  }
  OperationResult insert(OperationResult result = done()) {
    return insert_driver(tree.root(), [&] {
      steps.push_back("insert, held:" + held());
      return std::move(result);
    });
  }
};

}  // namespace

TEST_CASE_METHOD(ProbingFixture, "probing: all but the first are held back, then bound") {
  const OperationResult result = insert();
  CHECK(result.outcome == Outcome::Done);
  CHECK(result.detail.empty());
  CHECK(steps == Steps{"insert, held: 12 13"});
  CHECK(tree.read(kBind) == function("13"));  // the last function
  CHECK(held().empty());
}

TEST_CASE_METHOD(ProbingFixture,
                 "probing: no function is probed while the driver has events to handle") {
  worker("kworker/u4:2+pvrdma_event_wq", 'D');
  auto result = std::async(std::launch::async, [&] { return insert(); });
  CHECK(result.wait_for(std::chrono::milliseconds{300}) == std::future_status::timeout);
  CHECK(tree.read(kBind).empty());
  worker("kworker/u4:2-pvrdma_event_wq", 'I');
  CHECK(result.get().outcome == Outcome::Done);
  CHECK(tree.read(kBind) == function("13"));
}

TEST_CASE_METHOD(ProbingFixture,
                 "probing: a starved event queue leaves the others unbound, without an override") {
  worker("kworker/u4:2", 'R');
  const OperationResult result = insert();
  CHECK(result.outcome == Outcome::Done);
  for (const char* bus : {"12", "13"})
    CHECK(result.detail.find(function(bus) + " is not bound: ") != std::string::npos);
  CHECK(tree.read(kBind).empty());
  tree.file(device("12") + "/driver_override", "(null)\n");  // as the kernel shows it by now
  const OperationResult bind = bind_function(tree.root(), function("12"));
  CHECK(bind.code == ETIMEDOUT);
  CHECK(bind.detail.find("pvrdma_event_wq") != std::string::npos);
}

TEST_CASE_METHOD(ProbingFixture, "probing: bound functions are held back too, for a reload") {
  tree.link(device("11") + "/driver", "../../../bus/pci/drivers/vmw_pvrdma");
  tree.link(device("12") + "/driver", "../../../bus/pci/drivers/vfio-pci");
  CHECK(insert().outcome == Outcome::Done);
  CHECK(steps == Steps{"insert, held: 13"});
  CHECK(held().empty());
}

TEST_CASE_METHOD(ProbingFixture, "probing: a failed insertion leaves nothing held back") {
  CHECK(insert(failed({12, "inserting", "vmw_pvrdma"})).code == 12);
  CHECK(steps == Steps{"insert, held: 12 13"});
  CHECK(held().empty());
  CHECK(tree.read(kBind).empty());
}

TEST_CASE_METHOD(ProbingFixture,
                 "probing: where a function cannot be held back, nothing is inserted") {
  std::filesystem::remove(tree / (device("13") + "/driver_override"));
  std::filesystem::create_directory(tree / (device("13") + "/driver_override"));
  const OperationResult result = insert();
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.detail.find("driver_override") != std::string::npos);
  CHECK(steps.empty());
  std::filesystem::remove(tree / (device("13") + "/driver_override"));
  CHECK(held().empty());
}

TEST_CASE_METHOD(ProbingFixture,
                 "probing: an administrator's driver_override stays, and causes no wait") {
  tree.file(device("11") + "/driver_override", "vfio-pci\n");
  CHECK(insert().outcome == Outcome::Done);
  CHECK(steps == Steps{"insert, held: 13"});
  CHECK(override_of("11") == "vfio-pci\n");
}

TEST_CASE_METHOD(ProbingFixture, "probing: functions that a killed executor held back are freed") {
  for (const char* bus : {"11", "12"})
    tree.file(device(bus) + "/driver_override", std::string{kHeldBack} + "\n");
  SECTION("by a bind") {
    CHECK(bind_function(tree.root(), function("11")).outcome == Outcome::Done);
    CHECK(held() == " 12");
  }
  SECTION("by the next insertion, also the first function") {
    CHECK(insert().outcome == Outcome::Done);
    CHECK(steps.front() == "insert, held: 12 13");
    CHECK(held().empty());
  }
}

}  // namespace pvrdma::executor
