#include "agent/daemon/daemon.hpp"

#include <malloc.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "agent/base/guarded.hpp"
#include "agent/plan/verdict.hpp"
#include "agent/varlink/client.hpp"
#include "probes/pci.hpp"

namespace pvrdma {

namespace {

// Three missed looks and a device command that timed out: what was seen then is no longer told
// as what is so.
constexpr Milliseconds kStale{60'000};
constexpr const char* kNoAdapter = "this VM has no PVRDMA adapter";

// Equal for those who watch: all but the times of the looks.
bool looks_the_same(Health left, const Health& right) {
  left.observed = right.observed;
  return left == right;
}

bool names(const Adapter& adapter, const std::string& name) {
  const Netdev* netdev = adapter.netdev.get();
  const RdmaDevice* rdma = adapter.rdma.get();
  return adapter.function == name || adapter.net_function == name ||
         (netdev != nullptr && netdev->name == name) || (rdma != nullptr && rdma->name == name);
}

// Early in a boot there is work to come as sure as there is a function without driver: the executor
// is started by its socket while we take our first look, and goes by itself if it is not called.
void wake_executor(const Surroundings& around) {
  constexpr Milliseconds kPatience{100};
  const auto adapters = probes::find_adapters(around.root);
  if (!adapters) return;
  for (const probes::PciAdapter& adapter : *adapters)
    if (adapter.driver.is_absent())
      return static_cast<void>(varlink::Client::connect(around.executor_socket, kPatience));
}

}  // namespace

Daemon::Daemon(sd_event* event, LoadedConfig loaded, Surroundings surroundings)
    : event_(event),
      surroundings_(std::move(surroundings)),
      reconciler_(std::move(loaded), BootClock::now()),
      dispatcher_(event,
                  {[this](const Operation& operation, const Result<Report>& answer) {
                     on_answer(operation, answer);
                   },
                   [this] { think_again(); }, [this] { observer_->look(); }},
                  surroundings_.executor_socket),
      service_(event, {[this] { return current_health(); },
                       [this]() -> const Plan& { return reconciler_.plan(); },
                       [this](bool forgive) {
                         if (forgive) reconciler_.start_afresh(BootClock::now());
                         observer_->look();
                       },
                       [this] { return accept_reload(); },
                       [this](const std::string& name) {
                         const auto* all = adapters();
                         return all == nullptr ||
                                std::any_of(all->begin(), all->end(), [&](const Adapter& adapter) {
                                  return names(adapter, name);
                                });
                       },
                       [this](const std::optional<std::string>& name) {
                         const bool known = reconciler_.acknowledge_removed(name);
                         think_again();
                         return known;
                       }}) {}

Result<void> Daemon::start() {
  wake_executor(surroundings_);
  if (auto listening = service_.listen(surroundings_.socket); !listening) return listening;
  auto events = KernelEvents::subscribe(event_, [this] { observer_->look(); });
  if (!events) return fail(events.error());
  events_ = std::move(*events);
  auto observer = Observer::start(
      event_, reconciler_.config().modules.before, [this](Look look) { on_look(std::move(look)); },
      surroundings_.observe);
  if (!observer) return fail(observer.error());
  observer_ = std::move(*observer);
  auto timer = call_after(event_, CLOCK_BOOTTIME, surroundings_.ready_limit, on_ready_limit, this);
  if (!timer) return fail(timer.error());
  ready_limit_ = std::move(*timer);
  await_look(surroundings_.look_overdue);
  return {};
}

void Daemon::on_look(Look look) {
  complete_ledger(look, dispatcher_.answered(), dispatcher_.not_understood());
  const Health before = reconciler_.health();
  if (reconciler_.config_may_be_old(look.snapshot))
    if (auto loaded = load_config(surroundings_.root);
        loaded ? !reconciler_.uses(loaded->config, loaded->left_out)
               : !reconciler_.rejects(loaded.error().message()))
      take_over(std::move(loaded));
  reconciler_.pass(look, dispatcher_.busy(), dispatcher_.last_answer(), BootClock::now());
  events_->concerns(look.snapshot);
  dispatcher_.keep_only(reconciler_.plan().actions);
  log_pass();
  publish(before);
  service_.looked(look.started);
  reporter_.feed_watchdog();
  await_look(surroundings_.look_overdue);
  observer_->schedule(reconciler_.config().modules.before, reconciler_.pace(),
                      reconciler_.plan().next_look);
  // What bringing adapters up took is not kept for the weeks in which there is nothing to do.
  if (before.state != reconciler_.health().state) ::malloc_trim(0);
  if (reconciler_.may_act()) dispatcher_.carry_out(reconciler_.plan().actions);
  // Only now is it known what has begun; and what is given up here is not begun any more. Who held
  // an adapter before the reload was asked for may be gone.
  if (reload_asked_ && look.started >= *reload_asked_) settle_reload_request();
}

void Daemon::on_answer(const Operation& operation, const Result<Report>& answer) {
  reconciler_.executor_missing(dispatcher_.unreached());
  // An executor that is not there becomes a finding, which is logged.
  if (!dispatcher_.unreached()) reporter_.call_ended(operation, answer);
  if (!takes_driver_away(operation) || !service_.reload_awaited()) return;
  if (!answer)
    end_reload(answer.error().message(), {});
  else if (answer->outcome == Outcome::Done || answer->outcome == Outcome::AlreadyDone)
    end_reload({}, {});
  else
    end_reload(answer->detail, answer->holders);
}

// Without a new look: only what is known has to be said anew.
void Daemon::think_again() {
  const Health before = reconciler_.health();
  reconciler_.again(dispatcher_.busy(), BootClock::now());
  log_pass();
  publish(before);
}

void Daemon::publish(const Health& before) {
  reporter_.conclude(reconciler_.health(), reconciler_.managers_may_start(), reconciler_.boot());
  service_.concluded(!looks_the_same(before, reconciler_.health()));
}

void Daemon::log_pass() {
  if (reconciler_.snapshot() == nullptr) return;
  const Plan& plan = reconciler_.plan();
  Milliseconds next = reconciler_.pace().first;
  if (plan.next_look) next = std::clamp(*plan.next_look - BootClock::now(), Milliseconds{0}, next);
  pass_log_.passed(*reconciler_.snapshot(), plan, reconciler_.may_act(), next);
}

std::string Daemon::accept_reload() {
  if (dispatcher_.busy()) return describe(*dispatcher_.busy()) + " is still under way";
  if (reconciler_.has_no_good_config())
    return "the configuration is not good (see the finding config-bad), and nothing is reloaded "
           "until it is";
  if (reconciler_.config().modules.reload == ReloadPolicy::Never)
    return "modules.reload is \"never\" in the configuration";
  // What is not known yet, the next look or the time limit settles.
  if (adapters() != nullptr && adapters()->empty()) return kNoAdapter;
  auto limit =
      call_after(event_, CLOCK_BOOTTIME, surroundings_.reload_limit, on_reload_limit, this);
  if (!limit) return limit.error().message();
  reload_limit_ = std::move(*limit);
  reload_asked_ = BootClock::now();
  reconciler_.request_reload(true);
  reconciler_.start_afresh(*reload_asked_);
  observer_->look();
  return {};
}

// A reload that was asked for is begun by the dispatcher, refused by a finding, or given up in
// time: it is not kept to be carried out later, when nobody expects it any more. A plan that holds
// it is no beginning: the dispatcher may be pausing. It is never queued behind another action.
void Daemon::settle_reload_request() {
  if (adapters() != nullptr && adapters()->empty()) return give_reload_up(kNoAdapter, {});
  if (const auto refusal = reconciler_.reload_refusal(BootClock::now()))
    give_reload_up(refusal->summary, refusal->holders);
}

void Daemon::give_reload_up(const std::string& why, const std::vector<Holder>& holders) {
  const auto& busy = dispatcher_.busy();
  if (!reload_asked_ || (busy && takes_driver_away(busy->verb))) return;
  end_reload(why, holders);
  // It does not follow by itself any more, and nobody is told so.
  think_again();
}

void Daemon::end_reload(const std::string& failure, const std::vector<Holder>& holders) {
  reload_asked_.reset();
  reload_limit_.reset();
  reconciler_.request_reload(false);
  service_.reload_ended(failure, holders);
}

const std::vector<Adapter>* Daemon::adapters() const {
  const Snapshot* seen = reconciler_.snapshot();
  return seen == nullptr ? nullptr : seen->adapters.get();
}

Health Daemon::current_health() const {
  Health health = reconciler_.health();
  // Looks that saw nothing new were not handed over, but they confirm what is known.
  if (observer_ && health.observed != BootTime{})
    health.observed = std::max(health.observed, observer_->last_look());
  return if_fresh(std::move(health), BootClock::now(), kStale);
}

void Daemon::take_over(Result<LoadedConfig> loaded) {
  if (loaded) {
    reconciler_.use(std::move(loaded->config), std::move(loaded->left_out));
    reconciler_.start_afresh(BootClock::now());
    reporter_.config_loaded(loaded->files.size());
  } else {
    reconciler_.reject_config(loaded.error().message());
    reporter_.config_rejected(loaded.error().message());
  }
}

void Daemon::reload_config() {
  take_over(load_config(surroundings_.root));
  think_again();
  observer_->schedule(reconciler_.config().modules.before, reconciler_.pace(),
                      reconciler_.plan().next_look);
  observer_->look();
}

// By a clock that stands still while the machine is suspended, as the looks do.
void Daemon::await_look(Milliseconds at_most) {
  auto timer = call_after(event_, CLOCK_MONOTONIC, at_most, on_look_overdue, this);
  look_overdue_ = timer ? std::move(*timer) : EventSource{};
}

// The loop feeds the watchdog where it knows that a look hangs in the kernel: a new agent would
// hang there as well, beside this one, which no signal ends; and a device command that is cut short
// leaves its answer to the next one of whoever uses the device. A loop that hangs feeds nothing.
void Daemon::say_that_look_hangs() {
  const Milliseconds patience = surroundings_.look_overdue / 2;
  await_look(patience);
  const auto since = observer_->looking_since();
  if (!since || BootClock::now() - *since < patience) return;
  reporter_.feed_watchdog();
  reconciler_.look_hangs(since);
  think_again();
}

int Daemon::on_look_overdue(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [&] { static_cast<Daemon*>(self)->say_that_look_hangs(); });
}

int Daemon::on_ready_limit(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [&] { static_cast<Daemon*>(self)->reporter_.ready(); });
}

int Daemon::on_reload_limit(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [&] {
    static_cast<Daemon*>(self)->give_reload_up(
        "the driver did not come to a state in which it can be reloaded", {});
  });
}

}  // namespace pvrdma
