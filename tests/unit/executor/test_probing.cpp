// One probe at a time, on a made-up sysfs of three adapters that have lost their driver.
#include <chrono>

#include "agent/executor/driver.hpp"
#include "agent/executor/probing.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

using Steps = std::vector<std::string>;

constexpr const char* kBind = "/sys/bus/pci/drivers/vmw_pvrdma/bind";

struct Fixture {
  test::Tree tree;
  Steps steps;

  // Indices out of the order of the functions: 0000:11:00.1 has 7, …:12:… has 9, …:13:… has 5.
  Fixture() {
    test::add_adapter(tree, "net13", 5);
    std::filesystem::remove(tree / (device("13") + "/driver"));
    add("11", "7\n");
    add("12", "9\n");
    for (const char* bus : {"11", "12", "13"})
      tree.file(device(bus) + "/driver_override", "(null)\n");
  }

  static std::string function(const std::string& bus) { return "0000:" + bus + ":00.1"; }
  static std::string device(const std::string& bus) {
    return "/sys/bus/pci/devices/" + function(bus);
  }
  void add(const std::string& bus, const std::string& index) const {
    const std::string net = "/sys/bus/pci/devices/0000:" + bus + ":00.0";
    tree.file(device(bus) + "/vendor", "0x15ad\n");
    tree.file(device(bus) + "/device", "0x0820\n");
    tree.file(net + "/vendor", "0x15ad\n");
    tree.file(net + "/device", "0x07b0\n");
    tree.file(net + "/net/net" + bus + "/ifindex", index);
  }
  std::string override_of(const std::string& bus) const {
    return tree.read(device(bus) + "/driver_override");
  }

  // The functions held back at this moment.
  std::string held() const {
    std::string text;
    for (const char* bus : {"11", "12", "13"})
      if (override_of(bus).rfind(kHeldBack, 0) == 0) text += std::string{" "} + bus;
    return text;
  }
  Report insert(Report report = done()) {
    return insert_driver(
        tree.root(),
        [&] {
          steps.push_back("insert, held:" + held());
          return report;
        },
        [&](const std::string& settled) {
          steps.push_back("bound " + tree.read(kBind) + ", settle " + settled + ", held:" + held());
        });
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "probing: the youngest netdev first") {
  const auto order = probe_order(tree.root());
  REQUIRE(order.has_value());
  CHECK(*order == Steps{function("12"), function("11"), function("13")});
}

TEST_CASE_METHOD(Fixture, "probing: no function is probed before the one ahead of it has settled") {
  CHECK(insert().outcome == Outcome::Done);
  CHECK(steps == Steps{"insert, held: 11 13", "bound , settle 0000:12:00.1, held: 11 13",
                       "bound 0000:11:00.1, settle 0000:11:00.1, held: 13"});
  CHECK(tree.read(kBind) == function("13"));
  CHECK(held().empty());
}

TEST_CASE_METHOD(Fixture, "probing: bound functions are held back too, for a reload") {
  tree.link(device("11") + "/driver", "../../../bus/pci/drivers/vmw_pvrdma");
  tree.link(device("13") + "/driver", "../../../bus/pci/drivers/vfio-pci");
  CHECK(insert().outcome == Outcome::Done);
  CHECK(steps == Steps{"insert, held: 11", "bound , settle 0000:12:00.1, held: 11"});
  CHECK(held().empty());
}

TEST_CASE_METHOD(Fixture, "probing: a failed insertion leaves nothing held back") {
  CHECK(insert(failed({12, "inserting", "vmw_pvrdma"})).code == 12);
  CHECK(steps == Steps{"insert, held: 11 13"});
  CHECK(held().empty());
  CHECK(tree.read(kBind).empty());
}

TEST_CASE_METHOD(Fixture, "probing: what cannot be held back is not inserted next to the others") {
  std::filesystem::remove(tree / (device("11") + "/driver_override"));
  std::filesystem::create_directory(tree / (device("11") + "/driver_override"));
  const Report report = insert();
  CHECK(report.outcome == Outcome::Failed);
  CHECK(report.detail.find("driver_override") != std::string::npos);
  CHECK(steps.empty());
  std::filesystem::remove(tree / (device("11") + "/driver_override"));
  CHECK(held().empty());
}

TEST_CASE_METHOD(Fixture,
                 "probing: an administrator's driver_override stays, and is not waited for") {
  tree.file(device("12") + "/driver_override", "vfio-pci\n");
  CHECK(insert().outcome == Outcome::Done);
  CHECK(steps == Steps{"insert, held: 13", "bound , settle 0000:11:00.1, held: 13"});
  CHECK(override_of("12") == "vfio-pci\n");
}

TEST_CASE_METHOD(Fixture, "probing: what a killed executor held back is let go") {
  for (const char* bus : {"11", "12"})
    tree.file(device(bus) + "/driver_override", std::string{kHeldBack} + "\n");
  SECTION("by a bind") {
    CHECK(bind_function(tree.root(), function("11")).outcome == Outcome::Done);
    CHECK(held() == " 12");
  }
  SECTION("by the next insertion, also the first in its order") {
    CHECK(insert().outcome == Outcome::Done);
    CHECK(steps.front() == "insert, held: 11 13");
    CHECK(held().empty());
  }
}

TEST_CASE_METHOD(Fixture, "probing: an adapter without netdev here goes first") {
  std::filesystem::remove_all(tree / "/sys/bus/pci/devices/0000:13:00.0/net/net13");
  const auto order = probe_order(tree.root());
  REQUIRE(order.has_value());
  CHECK(order->front() == function("13"));
}

TEST_CASE_METHOD(Fixture, "probing: a function without RDMA device is not waited for") {
  const auto began = std::chrono::steady_clock::now();
  await_pairing(tree.root(), function("11"));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{1});
}

}  // namespace pvrdma::executor
