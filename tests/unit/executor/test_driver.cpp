// SPDX-License-Identifier: GPL-2.0-or-later
// Bind, unbind and the access gate between them, on a made-up sysfs and /dev.
#include <unistd.h>

#include <cerrno>

#include "agent/executor/driver.hpp"
#include "agent/executor/uverbs_access.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

using test::kBind;

constexpr const char* kNode = "/dev/infiniband/uverbs0";
constexpr const char* kUnbind = "/sys/bus/pci/drivers/vmw_pvrdma/unbind";
constexpr const char* kDriverLink = "/sys/bus/pci/devices/0000:13:00.1/driver";

struct DriverFixture {
  test::Tree tree;
  std::filesystem::path memo = tree / "/door";

  DriverFixture() { test::add_adapter(tree, "ens224f0", 5); }
  OperationResult rebind(const std::function<std::optional<OperationResult>()>& refused_now) const {
    return rebind_function(tree.root(), test::kFunction, memo, refused_now);
  }
};

}  // namespace

TEST_CASE_METHOD(DriverFixture, "driver: bind") {
  CHECK(bind_function(tree.root(), test::kFunction).outcome == Outcome::AlreadyDone);
  CHECK(tree.read(kBind).empty());
  std::filesystem::remove(tree / kDriverLink);
  CHECK(bind_function(tree.root(), test::kFunction).outcome == Outcome::Done);
  CHECK(tree.read(kBind) == test::kFunction);
}

TEST_CASE_METHOD(DriverFixture, "driver: an administrator's driver_override is respected") {
  const auto bind_with = [&](const char* name) {
    tree.file("/sys/bus/pci/devices/0000:13:00.1/driver_override", name);
    return bind_function(tree.root(), test::kFunction);
  };
  std::filesystem::remove(tree / kDriverLink);
  const OperationResult result = bind_with("none\n");
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.detail.find("driver_override gives it to none") != std::string::npos);
  CHECK(tree.read(kBind).empty());
  CHECK(bind_with("vmw_pvrdma\n").outcome == Outcome::Done);
  tree.link(kDriverLink, "../../../bus/pci/drivers/vmw_pvrdma");
  CHECK(bind_with("none\n").outcome == Outcome::AlreadyDone);
}

TEST_CASE_METHOD(DriverFixture, "driver: bind without the driver") {
  std::filesystem::remove(tree / kDriverLink);
  std::filesystem::remove(tree / kBind);
  const OperationResult result = bind_function(tree.root(), test::kFunction);
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.code == ENOENT);
  CHECK(result.detail.find("vmw_pvrdma/bind") != std::string::npos);
}

TEST_CASE_METHOD(DriverFixture, "driver: rebind looks again after closing the node") {
  unsigned mode_at_look = 07777;
  bool memo_at_look = false;
  const OperationResult rebind = this->rebind([&]() -> std::optional<OperationResult> {
    mode_at_look = tree.mode(kNode);
    memo_at_look = std::filesystem::exists(memo);
    CHECK(tree.read(kUnbind).empty());
    std::filesystem::remove(tree / kDriverLink);  // as the unbind does
    return std::nullopt;
  });
  CHECK(mode_at_look == 0);
  CHECK(memo_at_look);
  CHECK(rebind.outcome == Outcome::Done);
  CHECK(rebind.driver_taken);
  CHECK(tree.read(kUnbind) == test::kFunction);
  CHECK(tree.read(kBind) == test::kFunction);
  CHECK_FALSE(std::filesystem::exists(memo));
}

TEST_CASE_METHOD(DriverFixture, "driver: a process opens the device before the node is closed") {
  const std::vector<Holder> holders{{812, "ibv_asyncwatch", "rocep19s0f1"}};
  const OperationResult rebind = this->rebind([&]() -> std::optional<OperationResult> {
    return OperationResult{Outcome::InUse, "in use", EBUSY, holders};
  });
  CHECK(rebind.outcome == Outcome::InUse);
  CHECK(rebind.holders == holders);
  CHECK_FALSE(rebind.driver_taken);
  CHECK(tree.mode(kNode) == 0666);
  CHECK(tree.read(kUnbind).empty());
  CHECK_FALSE(std::filesystem::exists(memo));
}

TEST_CASE_METHOD(DriverFixture, "driver: an unbind that fails opens the node to others again") {
  std::filesystem::remove(tree / kUnbind);
  const OperationResult rebind = this->rebind([] { return std::nullopt; });
  CHECK(rebind.outcome == Outcome::Failed);
  CHECK_FALSE(rebind.driver_taken);
  CHECK(tree.mode(kNode) == 0666);
}

TEST_CASE_METHOD(DriverFixture, "driver: an unbound function without driver is reported") {
  std::filesystem::remove(tree / kDriverLink);
  std::filesystem::remove(tree / kBind);
  const OperationResult rebind = this->rebind([] { return std::nullopt; });
  CHECK(rebind.outcome == Outcome::Failed);
  CHECK(rebind.driver_taken);
  CHECK(rebind.detail.find("was unbound and could not be bound again") != std::string::npos);
}

TEST_CASE_METHOD(DriverFixture, "driver: no verbs node, nothing to close") {
  std::filesystem::remove_all(tree / "/sys/bus/pci/devices/0000:13:00.1/infiniband_verbs");
  std::filesystem::remove(tree / kDriverLink);
  CHECK(this->rebind([] { return std::nullopt; }).outcome == Outcome::Done);
  CHECK(tree.mode(kNode) == 0666);
}

TEST_CASE_METHOD(DriverFixture, "driver: a node that cannot be closed stops the rebind") {
  SECTION("no node") { std::filesystem::remove(tree / kNode); }
  SECTION("no place for the memo") { memo = tree / "/missing/door"; }
  SECTION("a link in place of the node") {
    std::filesystem::rename(tree / kNode, tree / "/elsewhere");
    tree.link(kNode, tree / "/elsewhere");
  }
  const OperationResult rebind = this->rebind([]() -> std::optional<OperationResult> {
    FAIL("looked while the node was open");
    return std::nullopt;
  });
  CHECK(rebind.outcome == Outcome::Failed);
  CHECK_FALSE(rebind.driver_taken);
  CHECK(tree.read(kUnbind).empty());
}

TEST_CASE_METHOD(DriverFixture, "uverbs access: a node left closed by a dead executor") {
  CHECK(reopen_access_left_closed(memo) == false);
  // The memo of an executor that died at this point.
  tree.file("/door", "432 " + (tree / kNode).string());
  std::filesystem::permissions(tree / kNode, std::filesystem::perms::none);
  CHECK(reopen_access_left_closed(memo) == true);
  CHECK(tree.mode(kNode) == 0660);
  CHECK_FALSE(std::filesystem::exists(memo));
}

TEST_CASE_METHOD(DriverFixture, "uverbs access: a node made anew keeps its mode") {
  tree.file("/door", "432 " + (tree / kNode).string());
  CHECK(reopen_access_left_closed(memo) == false);
  CHECK(tree.mode(kNode) == 0666);
  CHECK_FALSE(std::filesystem::exists(memo));
}

TEST_CASE_METHOD(DriverFixture, "uverbs access: a file that is no memo") {
  for (const char* text : {"", "432", "432 ", "x /dev/null", "99999 /dev/null"}) {
    INFO(text);
    tree.file("/door", text);
    const auto opened = reopen_access_left_closed(memo);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().code == EBADMSG);
  }
}

TEST_CASE_METHOD(DriverFixture, "uverbs access: the noted node and mode are restored") {
  const auto node = tree / kNode;
  std::filesystem::permissions(node, std::filesystem::perms{0640});
  {
    auto access = UverbsAccess::close(node, memo);
    REQUIRE(access.has_value());
    CHECK(tree.mode(kNode) == 0);
    // As if the executor was killed here; the next process reads the memo.
    CHECK(reopen_access_left_closed(memo) == true);
    CHECK(tree.mode(kNode) == 0640);
    access->gone();
  }
  CHECK(tree.mode(kNode) == 0640);
}

}  // namespace pvrdma::executor
