#include "agent/daemon/reconciler.hpp"

#include <algorithm>
#include <utility>

#include "agent/plan/findings.hpp"
#include "agent/plan/planner.hpp"
#include "agent/plan/reload_policy.hpp"
#include "agent/plan/verdict.hpp"

namespace pvrdma {

namespace {

// How soon a configuration that was bad from the beginning is read again.
constexpr Milliseconds kReadAgain{15'000};
// The host can take a port down, or up, without any event in the guest.
constexpr Milliseconds kRestingInterval{30'000};
// What is under way has events, but for modules that others load and managers that make up their
// minds.
constexpr Milliseconds kWorkingInterval{2000};
// An agent that starts in the middle of a boot's life counts what was tried this long before it, so
// that one which crashes again and again has one budget, not one each time.
constexpr Milliseconds kMemory{600'000};

}  // namespace

Reconciler::Reconciler(LoadedConfig loaded, BootTime started)
    : config_(std::move(loaded.config)),
      config_error_(std::move(loaded.bad)),
      left_out_(std::move(loaded.left_out)),
      is_safe_subset_(!config_error_.empty()) {
  health_.since = started;
  health_.summary = "no look has finished yet";
  boot_.add({StepKind::AgentStarted, {}, started, std::nullopt, false});
  history_.started = started;
  history_.fresh_start = std::max(BootTime{}, started - kMemory);
}

void Reconciler::pass(const Look& look, const std::optional<BusyCall>& busy, BootTime last_answer,
                      BootTime now) {
  history_ = advance(std::move(history_), snapshot_ ? &*snapshot_ : nullptr, look.snapshot);
  const auto before = std::exchange(snapshot_, look.snapshot);
  may_act_ = look.started >= last_answer;
  look_hangs_.reset();
  conclude(before ? &*before : nullptr, busy, now);
}

void Reconciler::again(const std::optional<BusyCall>& busy, BootTime now) {
  may_act_ = false;
  if (snapshot_) return conclude(&*snapshot_, busy, now);
  health_.findings.clear();
  if (look_hangs_) health_.findings.push_back(findings::look_stuck(*look_hangs_));
}

void Reconciler::conclude(const Snapshot* before, const std::optional<BusyCall>& busy,
                          BootTime now) {
  history_.busy = busy;
  plan_ = pvrdma::plan(config_, *snapshot_, history_, now);
  if (look_hangs_)
    plan_.findings.insert(plan_.findings.begin(), findings::look_stuck(*look_hangs_));
  if (!left_out_.empty())
    plan_.findings.insert(plan_.findings.begin(), findings::config_left_out(left_out_));
  if (!config_error_.empty()) {
    // For that the executor refuses whatever it is asked.
    std::erase_if(plan_.findings,
                  [](const Finding& finding) { return finding.id == FindingId::ActionRefused; });
    plan_.findings.insert(plan_.findings.begin(),
                          findings::config_bad(config_error_, is_safe_subset_));
  }
  Health health = assess(config_, *snapshot_, plan_, history_, now);
  boot_ = advance(std::move(boot_), config_, before, *snapshot_, health);
  health.since = health.state == health_.state ? health_.since : now;
  health_ = std::move(health);
  managers_may_start_ = driver_is_decided(*snapshot_, plan_);
  if (is_safe_subset_)
    plan_.next_look = std::min(plan_.next_look.value_or(now + kReadAgain), now + kReadAgain);
}

void Reconciler::use(Config config, std::string left_out) {
  config_ = std::move(config);
  left_out_ = std::move(left_out);
  config_error_.clear();
  is_safe_subset_ = false;
}

bool Reconciler::config_may_be_old(const Snapshot& now) const {
  if (is_safe_subset_) return true;
  return now.customization.is_absent() && (!snapshot_ || !snapshot_->customization.is_absent());
}

bool Reconciler::uses(const Config& config, const std::string& left_out) const {
  return config_error_.empty() && left_out == left_out_ && config == config_;
}

std::optional<Finding> Reconciler::reload_refusal(BootTime now) const {
  if (!snapshot_) return std::nullopt;
  return requested_reload({config_, *snapshot_, history_, now}).refusal;
}

bool Reconciler::acknowledge_removed(const std::optional<std::string>& name) {
  return std::erase_if(history_.removed, [&](const RemovedAdapter& removed) {
           return !name || removed.function == *name || removed.mac == *name ||
                  removed.netdev == *name;
         }) > 0;
}

Pace Reconciler::pace() const {
  if (health_.state == State::Ready || health_.state == State::Absent)
    return {kRestingInterval, kRestingInterval};
  if (health_.state == State::Converging || history_.busy || !plan_.actions.empty())
    return {kWorkingInterval, kWorkingInterval};
  // Degraded or failed, with nothing to do about it: perhaps for good.
  return {kWorkingInterval, kRestingInterval};
}

}  // namespace pvrdma
