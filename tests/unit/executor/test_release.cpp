// SPDX-License-Identifier: GPL-2.0-or-later
// The state that an executor killed in the middle of a reload leaves, and its repair. An initramfs
// leaves functions held back too.
#include "agent/executor/operations.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"
#include "tests/unit/module_index.hpp"

namespace pvrdma::executor {

namespace {

constexpr const char* kSecond = "/sys/bus/pci/devices/0000:1b:00.1";
constexpr const char* kSecondFunction = "0000:1b:00.1";

// Two adapters; the second was held back when its executor was killed.
struct ReleaseFixture {
  test::Tree tree;
  Places places{tree.root(),
                tree / "/state/ledger.json",
                tree / "/state/door",
                {tree / "/lib/modules/none", {}}};

  ReleaseFixture() {
    test::add_adapter(tree, "ens224f0", 5);
    test::identify_adapter(tree, kSecond, "/sys/bus/pci/devices/0000:1b:00.0");
    tree.file("/sys/bus/pci/devices/0000:13:00.1/driver_override", "(null)\n");
    tree.file(override_of_second(), std::string{kHeldBack} + "\n");
  }
  static std::string override_of_second() { return std::string{kSecond} + "/driver_override"; }
  void unload() {
    tree.file("/proc/modules", "");
    std::filesystem::remove_all(tree / "/sys/module/vmw_pvrdma");
    std::filesystem::remove_all(tree / "/sys/bus/pci/drivers/vmw_pvrdma");
    std::filesystem::remove(tree / "/sys/bus/pci/devices/0000:13:00.1/driver");
  }
  void cut_short(Verb verb, const char* target) {
    Ledger ledger;
    Attempt attempt;
    attempt.verb = verb;
    attempt.target = target;
    add(ledger, attempt);
    tree.file("/state/ledger.json", codec::to_text(ledger));
  }
  [[nodiscard]] bool is_free() const {
    return tree.read(override_of_second()).find(kHeldBack) == std::string::npos;
  }
};

}  // namespace

TEST_CASE_METHOD(ReleaseFixture, "release: a function held back is freed and bound") {
  const OperationResult result = release(places);
  INFO(result.detail);
  CHECK(result.outcome == Outcome::Done);
  CHECK(result.detail.empty());
  CHECK(is_free());
  CHECK(tree.read(test::kBind) == kSecondFunction);
}

TEST_CASE_METHOD(ReleaseFixture, "release: an administrator's override stays, nothing is bound") {
  tree.file(override_of_second(), "vfio-pci\n");
  const OperationResult result = release(places);
  CHECK(result.outcome == Outcome::AlreadyDone);
  CHECK(result.detail.empty());  // a detail would be logged as a warning
  CHECK(tree.read(override_of_second()) == "vfio-pci\n");
  CHECK(tree.read(test::kBind).empty());
}

TEST_CASE_METHOD(ReleaseFixture,
                 "release: the driver comes back where its reload was interrupted") {
  unload();
  SECTION("a reload") { cut_short(Verb::ReloadDriver, kDriverModule); }
  SECTION("its load") { cut_short(Verb::LoadModule, kDriverModule); }
  SECTION("and another executor ran after it") {
    cut_short(Verb::ReloadDriver, kDriverModule);
    const Operations later{places};
  }
  // The load is tried, and fails: this kernel's modules cannot be looked up.
  const OperationResult result = release(places);
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.detail.find("module index") != std::string::npos);
  CHECK(is_free());
}

TEST_CASE_METHOD(ReleaseFixture,
                 "release: a function that could not be bound is named though the driver is back") {
  unload();
  cut_short(Verb::ReloadDriver, kDriverModule);
  test::ship_module(tree, kDriverModule);
  tree.file("/conf/install.conf", "install vmw_pvrdma printenv MODPROBE_MODULE >/dev/null\n");
  places.modules = {tree / "/lib", {tree / "/conf"}};
  tree.file("/state/door", "432 " + (tree / "/dev/infiniband/uverbs0").string());
  const OperationResult result = release(places);
  CHECK(result.outcome == Outcome::Done);
  CHECK(result.detail.find("0000:1b:00.1 is not bound: ") != std::string::npos);
}

TEST_CASE_METHOD(ReleaseFixture,
                 "release: a driver that an administrator unloaded stays unloaded") {
  unload();
  SECTION("without a ledger") {}
  SECTION("with another module's attempt") { cut_short(Verb::LoadModule, "mlx4_ib"); }
  SECTION("where a later executor has loaded it") {
    cut_short(Verb::ReloadDriver, kDriverModule);
    LedgerWriter later{places.ledger, BootClock::now()};
    CHECK_FALSE(later.begin(LoadModule{kDriverModule}, Caller::Agent, BootClock::now()));
    later.end(done(), BootClock::now());
  }
  CHECK(release(places).outcome == Outcome::Done);
  CHECK(is_free());
}

TEST_CASE_METHOD(ReleaseFixture, "release: a verbs node left closed is opened") {
  constexpr const char* kVerbsNode = "/dev/infiniband/uverbs0";
  tree.file("/state/door", "432 " + (tree / kVerbsNode).string());
  std::filesystem::permissions(tree / kVerbsNode, std::filesystem::perms::none);
  SECTION("with a function held back") { CHECK(release(places).outcome == Outcome::Done); }
  SECTION("alone") {
    tree.file(override_of_second(), "(null)\n");
    CHECK(release(places).outcome == Outcome::Done);
    CHECK(release(places).outcome == Outcome::AlreadyDone);
  }
  CHECK(tree.mode(kVerbsNode) == 0660);
}

TEST_CASE_METHOD(ReleaseFixture, "release: a memo that cannot be read is reported last") {
  tree.file("/state/door", "nonsense");
  const OperationResult result = release(places);
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.detail.find("door") != std::string::npos);
  CHECK(is_free());
}

TEST_CASE_METHOD(ReleaseFixture, "release: the next executor frees if the driver is loaded") {
  const auto freed = free_left_held_back(places.root);
  REQUIRE(freed);
  CHECK(*freed == std::vector<std::string>{kSecondFunction});
  CHECK(is_free());
  CHECK(tree.read(test::kBind).empty());
}

TEST_CASE_METHOD(ReleaseFixture,
                 "release: the next executor frees nothing before the driver is loaded") {
  SECTION("it is not loaded") { unload(); }
  SECTION("its load has begun") {
    tree.file("/proc/modules", "vmw_pvrdma 81920 1 - Loading 0x0000000000000000\n");
  }
  const auto freed = free_left_held_back(places.root);
  REQUIRE(freed);
  CHECK(freed->empty());
  CHECK_FALSE(is_free());
}

}  // namespace pvrdma::executor
