// SPDX-License-Identifier: GPL-2.0-or-later
// Timelines: steps in order, once each, and the time of each.
#include "agent/model/timeline.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;

namespace {

Step step(StepKind kind, std::string subject, int at_ms) {
  return {kind, std::move(subject), BootTime{Milliseconds{at_ms}}, std::nullopt, false};
}

}  // namespace

TEST_CASE("steps are sorted by time, in whatever order they were added") {
  Timeline boot;
  CHECK(boot.add(step(StepKind::Carrier, "0000:13:00.1", 300)));
  CHECK(boot.add(step(StepKind::ModuleLoaded, "ib_umad", 200)));
  CHECK(boot.add(step(StepKind::AgentStarted, "", 100)));
  // Steps of one look keep their given order.
  CHECK(boot.add(step(StepKind::LinkUp, "0000:13:00.1", 300)));
  REQUIRE(boot.steps.size() == 4);
  CHECK(boot.steps[0].kind == StepKind::AgentStarted);
  CHECK(boot.steps[1].kind == StepKind::ModuleLoaded);
  CHECK(boot.steps[2].kind == StepKind::LinkUp);
  CHECK(boot.steps[3].kind == StepKind::Carrier);
}

TEST_CASE("a step is reached once, and their number is limited") {
  Timeline boot;
  CHECK(boot.add(step(StepKind::ModuleLoaded, "ib_umad", 200)));
  CHECK_FALSE(boot.add(step(StepKind::ModuleLoaded, "ib_umad", 100)));
  CHECK(boot.find(StepKind::ModuleLoaded, "ib_umad")->at == BootTime{Milliseconds{200}});
  CHECK(boot.find(StepKind::ModuleLoaded, "rdma_cm") == nullptr);
  for (int i = 0; i < 200; ++i) boot.add(step(StepKind::ModuleLoaded, std::to_string(i), i));
  CHECK(boot.steps.size() == kStepsAtMost);
  CHECK(boot.find(StepKind::ModuleLoaded)->subject == "0");
}

TEST_CASE("after ready only missing steps of known adapters are added") {
  Timeline boot;
  CHECK(boot.add(step(StepKind::AdapterSeen, "one", 100)));
  CHECK(boot.add(step(StepKind::Ready, "", 300)));
  CHECK(boot.add(step(StepKind::Address, "one", 400)));
  CHECK_FALSE(boot.add(step(StepKind::Address, "other", 400)));
  CHECK_FALSE(boot.add(step(StepKind::AdapterSeen, "other", 400)));
  CHECK_FALSE(boot.add(step(StepKind::DriverReloaded, "vmw_pvrdma", 400)));
  CHECK_FALSE(boot.add(step(StepKind::DriverLive, "", 400)));
}

TEST_CASE("a step took the time since the one before it, of the machine or of the same adapter") {
  Timeline boot;
  boot.add(step(StepKind::AgentStarted, "", 1000));
  boot.add(step(StepKind::LinkUp, "one", 1100));
  boot.add(step(StepKind::LinkUp, "other", 1500));
  boot.add(step(StepKind::Carrier, "one", 1600));
  boot.add(step(StepKind::Ready, "", 1900));
  const auto took = [&](StepKind kind, const char* subject) {
    return own_duration(boot, *boot.find(kind, subject)).count();
  };
  CHECK(took(StepKind::AgentStarted, "") == 1000);
  CHECK(took(StepKind::LinkUp, "other") == 500);
  CHECK(took(StepKind::Carrier, "one") == 500);
  CHECK(took(StepKind::Ready, "") == 300);
}

TEST_CASE("each kind has its own id, and words for a person") {
  for (int i = 0; i <= static_cast<int>(StepKind::Ready); ++i) {
    const auto kind = static_cast<StepKind>(i);
    CHECK(from_word<StepKind>(to_string(kind)) == kind);
  }
  CHECK_FALSE(from_word<StepKind>("unknown"));
  CHECK(in_words(StepKind::Carrier, "0000:13:00.1") == "carrier of 0000:13:00.1");
  CHECK(in_words(StepKind::AdapterSeen, "0000:13:00.1") == "0000:13:00.1 on the bus");
  CHECK(in_words(StepKind::Ready, "") == "ready");
}

TEST_CASE("seconds have two decimals") {
  CHECK(in_seconds(Milliseconds{0}) == "0.00");
  CHECK(in_seconds(Milliseconds{1059}) == "1.05");
  CHECK(in_seconds(Milliseconds{123'450}) == "123.45");
}
