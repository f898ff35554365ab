// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/daemon.hpp"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "agent/base/guarded.hpp"
#include "agent/codec/json.hpp"
#include "agent/varlink/closing.hpp"
#include "probes/pci.hpp"

namespace pvrdma {

namespace {

// Error: the executor did not understand the call, closed the connection, or died.
Result<OperationResult> answer_of(const Operation& operation, const Result<varlink::Reply>& reply) {
  if (!reply) return fail(reply.error());
  if (reply->error == varlink::kNotAllowed) {
    OperationResult refusal;
    refusal.outcome = Outcome::NotAllowed;
    refusal.detail = reply->parameters.value("reason", reply->error);
    return refusal;
  }
  if (!reply->error.empty())
    return fail(0, "the executor answered",
                reply->error + " " + varlink::to_text(reply->parameters));
  const auto result = reply->parameters.find("result");
  if (result == reply->parameters.end())
    return fail(EBADMSG, "reading the executor's answer to", describe(operation));
  return codec::result_from(*result);
}

// sd-event's default accuracy of a quarter of a second is too coarse for a client that waits.
constexpr std::uint64_t kTimerAccuracyUs = 10'000;

// A function without driver early in a boot means that the executor will be called soon. So a
// connection to its socket starts it during the first look; it exits by itself if it is not called.
void wake_executor(const Environment& around) {
  constexpr Milliseconds kPatience{100};
  const auto adapters = probes::find_adapters(around.root);
  if (!adapters) return;
  for (const probes::PciAdapter& adapter : *adapters)
    if (adapter.driver.is_absent())
      return static_cast<void>(varlink::Client::connect(around.executor_socket, kPatience));
}

Start start_of(LoadedConfig loaded, const TimeLimits& limits) {
  return {BootClock::now(), std::move(loaded.config), std::move(loaded.left_out),
          std::move(loaded.error), limits};
}

}  // namespace

ExecutorClient::ExecutorClient(sd_event* event, std::string socket, Post post)
    : client_(event, std::move(socket)), post_(std::move(post)) {}

void ExecutorClient::call(const Operation& operation) {
  client_.call(std::string{"io.pvrdma.Executor."} + to_string(verb(operation)),
               codec::to_parameters(operation),
               [this, operation](const Result<varlink::Reply>& reply) {
                 if (client_.connected())
                   post_(CallEnded{operation, answer_of(operation, reply)});
                 else
                   post_(ExecutorUnreachable{operation, reply.error()});
               });
}

Daemon::Daemon(sd_event* event, LoadedConfig loaded, Environment environment)
    : event_(event),
      environment_(std::move(environment)),
      recorder_(Start{}),
      executor_(event, environment_.executor_socket, [this](Event one) { post(std::move(one)); }),
      service_(
          event, [this](Event one) { post_asked(std::move(one)); },
          [this] { return recorder_.text(); }) {
  const Start start = start_of(std::move(loaded), environment_.limits);
  recorder_ = codec::Recorder{start};
  now_ = first_step(start);
}

Result<void> Daemon::start() {
  wake_executor(environment_);
  if (auto listening = service_.listen(environment_.socket); !listening) return listening;
  auto events = KernelEvents::subscribe(event_, [this] { post(KernelChanged{}); });
  if (!events) return fail(events.error());
  kernel_events_ = std::move(*events);
  auto observer = Observer::start(
      event_, now_.state.config.modules.before, [this](Looked look) { post(std::move(look)); },
      environment_.observe);
  if (!observer) return fail(observer.error());
  observer_ = std::move(*observer);
  sd_event_source* timer = nullptr;
  const int added =
      sd_event_add_time(event_, &timer, CLOCK_BOOTTIME, 0, kTimerAccuracyUs, on_deadline, this);
  if (added < 0) return fail(-added, "setting", "a timer");
  timer_.reset(timer);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF);
  carry_out(now_.effects, now_.state.started);
  return {};
}

void Daemon::reload_config() { post(read_config(true)); }

void Daemon::post(Event event) {
  events_.push_back(std::move(event));
  if (works_) return;
  works_ = true;
  const int code = guarded([&] {
    for (; !events_.empty(); events_.pop_front()) happen(events_.front());
  });
  if (code == 0) return static_cast<void>(works_ = false);
  // The state may be half changed, so the program must not go on with it.
  static_cast<void>(sd_event_exit(event_, code));
}

void Daemon::post_asked(Event event) {
  if (const BootTime ended = observer_->last_look(); ended > now_.state.confirmed)
    post(LookedSame{ended});
  post(std::move(event));
}

void Daemon::happen(const Event& event) {
  const BootTime now = BootClock::now();
  now_ = step(std::move(now_.state), event, now);
  record(event, now_.effects, now);
  const auto* looked = std::get_if<Looked>(&event);
  if (looked != nullptr) kernel_events_->set_filter(looked->snapshot);
  carry_out(now_.effects, now);
  if (looked == nullptr) return;
  // At every look, so that no ended process and no socket is left for long.
  varlink::finish_closing();
  // Gives back the memory that bringing up adapters, or a crowd of clients, has needed: the daemon
  // may then rest for weeks. The new snapshot has just taken the place of one whose parts may lie
  // between those of the crowd. AgentService does the same when a crowd has left.
  ::malloc_trim(0);
}

// In the order of the members of Effects.
void Daemon::carry_out(const Effects& effects, BootTime now) {
  report(effects, now);
  service_.tell(effects.answers, now_.state, now);
  if (effects.looks)
    observer_->schedule(effects.looks->modules, effects.looks->interval, effects.looks->deliver_by);
  if (effects.look) observer_->look();
  if (effects.call) executor_.call(*effects.call);
  if (effects.read_config) post(read_config(false));
  call_at(effects.deadline);
}

void Daemon::report(const Effects& effects, BootTime now) {
  const AgentState& state = now_.state;
  if (effects.call_failed) reporter_.call_failed(*effects.call_failed);
  if (effects.config_loaded) reporter_.config_loaded(*effects.config_loaded);
  if (effects.config_rejected) reporter_.config_rejected(*effects.config_rejected);
  if (effects.concluded) {
    if (state.snapshot) {
      const BootTime next = state.plan.next_look.value_or(now + state.interval);
      reporter_.passed(*state.snapshot, state.plan, effects.call.has_value(),
                       std::clamp(next - now, Milliseconds{0}, state.interval));
    }
    reporter_.conclude(state.health, state.boot);
  }
  if (effects.ready) reporter_.ready();
  if (effects.alive) reporter_.alive();
}

void Daemon::record(const Event& event, const Effects& effects, BootTime now) {
  if (!tells_something(event, effects)) return;
  // Of several changes in a row the first is enough.
  const bool kernel_change = std::holds_alternative<KernelChanged>(event);
  if (std::exchange(kernel_change_recorded_, kernel_change) && kernel_change) return;
  recorder_.add(event, now);
}

Event Daemon::read_config(bool requested) const {
  ConfigLoaded event;
  event.requested = requested;
  if (auto loaded = load_config(environment_.root)) {
    event.config = std::move(loaded->config);
    event.left_out = std::move(loaded->left_out);
    event.files = loaded->files.size();
  } else {
    event.error = loaded.error().message();
    event.unreadable = loaded.error().code != 0;
  }
  return event;
}

void Daemon::call_at(std::optional<BootTime> deadline) {
  if (deadline == timer_at_) return;
  timer_at_ = deadline;
  if (!deadline) return static_cast<void>(sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF));
  sd_event_source_set_time(timer_.get(), static_cast<std::uint64_t>(to_ms(*deadline)) * 1000U);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_ONESHOT);
}

int Daemon::on_deadline(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [daemon = static_cast<Daemon*>(self)] {
    daemon->timer_at_.reset();
    daemon->post(Deadline{daemon->observer_->looking_since()});
  });
}

}  // namespace pvrdma
