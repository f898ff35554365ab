// When a boot counts as slow, and which step is named.
#include "agent/plan/slow_boot.hpp"

#include "agent/plan/findings.hpp"
#include "tests/unit/boots.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

Step& step(Timeline& boot, StepKind kind) {
  for (Step& one : boot.steps)
    if (one.kind == kind) return one;
  throw std::logic_error("no such step");
}

std::vector<Timeline> usual_boots(std::size_t count) {
  return std::vector<Timeline>(count, usual_boot());
}

// The same, with all of it shifted.
Timeline later_by(int ms) {
  Timeline boot = usual_boot();
  for (Step& one : boot.steps) one.at += Milliseconds{ms};
  return boot;
}

}  // namespace

TEST_CASE("a boot as ever is not slow, nor is one of which nothing can be said") {
  CHECK_FALSE(slow_boot(usual_boot(), usual_boots(10)));
  CHECK_FALSE(slow_boot(usual_boot("bb", 60'000), usual_boots(2)));
  CHECK_FALSE(slow_boot({}, usual_boots(10)));
  Timeline unready = usual_boot("bb", 60'000);
  unready.steps.pop_back();
  CHECK_FALSE(slow_boot(unready, usual_boots(10)));
}

TEST_CASE("twice as late as the median, and two seconds at least") {
  // From the agent's start on it usually takes one second.
  CHECK_FALSE(slow_boot(usual_boot("bb", 1990), usual_boots(3)));
  CHECK(slow_boot(usual_boot("bb", 2000), usual_boots(3))->since == StepKind::AgentStarted);
  CHECK_FALSE(slow_boot(later_by(3000), usual_boots(3)));
  CHECK(slow_boot(later_by(3001), usual_boots(3))->since == std::nullopt);
  // A single fast or slow one before does not count.
  auto mixed = usual_boots(4);
  mixed[0] = usual_boot("cc", 500'000);
  CHECK(slow_boot(usual_boot("bb", 2000), mixed));
}

TEST_CASE("the step is named that grew most, not the longest") {
  const auto slow = slow_boot(usual_boot("bb", 20'000), usual_boots(3));
  REQUIRE(slow);
  CHECK(slow->step.kind == StepKind::Carrier);
  CHECK(slow->step.subject == kFunction);
  CHECK(slow->step_took == Milliseconds{20'010});
  CHECK(slow->step_usual == Milliseconds{10});
  CHECK(slow->took == Milliseconds{23'000});
  CHECK(slow->usual == Milliseconds{3000});
  CHECK(slow_boot(later_by(3001), usual_boots(3))->step.kind == StepKind::AgentStarted);

  Timeline reloaded = usual_boot("bb", 6000);
  reloaded.add({StepKind::DriverReloaded, "vmw_pvrdma", BootTime{Milliseconds{8500}},
                Milliseconds{5000}, false});
  const auto by_reload = slow_boot(reloaded, usual_boots(3));
  CHECK(by_reload->step.kind == StepKind::DriverReloaded);
  CHECK(by_reload->step_usual == Milliseconds{0});

  // What comes after ready has no part in it.
  Timeline addressed = usual_boot("bb", 4000);
  put(addressed, StepKind::Address, kFunction, 100'000);
  CHECK(slow_boot(addressed, usual_boots(3))->step.kind == StepKind::Carrier);
}

TEST_CASE("a boot is compared only where its time to ready is known, and is the boot's") {
  Timeline guessed = usual_boot("bb", 60'000);
  step(guessed, StepKind::Ready).at_or_before = true;
  CHECK_FALSE(slow_boot(guessed, usual_boots(3)));
  // Plugged in, or the agent started, long after the boot.
  CHECK_FALSE(slow_boot(later_by(700'000), usual_boots(3)));
  auto earlier = usual_boots(2);
  earlier.push_back(later_by(700'000));
  CHECK_FALSE(slow_boot(usual_boot("bb", 60'000), earlier));
}

TEST_CASE("boot-slow tells of the times and the step, and changes no state") {
  const Finding finding = findings::boot_slow(*slow_boot(usual_boot("bb", 20'000), usual_boots(3)));
  CHECK(finding.id == FindingId::BootSlow);
  CHECK(finding.severity == Severity::Info);
  CHECK(finding.summary ==
        "This boot took 23.00 s until the adapters were ready, earlier ones 3.00 s (median of 3). "
        "What took longest beyond the usual is the step \"carrier of 0000:13:00.1\": 20.01 s "
        "instead of 0.01 s.");
  CHECK(findings::boot_slow(*slow_boot(usual_boot("bb", 2000), usual_boots(3)))
            .summary.starts_with("In this boot the agent took 3.00 s"));
}
