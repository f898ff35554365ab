// SPDX-License-Identifier: GPL-2.0-or-later
// step() in a made-up world: at least 100,000 random events in each run, in any order in which the
// shell can send them, on machines that change at random; and the properties that must always hold.
#include <algorithm>
#include <map>
#include <random>

#include "agent/plan/step.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/kernel_model.hpp"
#include "tests/unit/random_fields.hpp"
#include "tests/unit/tries.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

using namespace std::chrono_literals;

// The shell, the kernel, the executor and the clients around one state.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) {
    kernel_.adapters.resize(random_() % 4);
    for (const char* name : {"vmxnet3", "mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm", kDriverModule})
      if (chance(random_, 60)) kernel_.modules.emplace_back(name);
    start_.at = kernel_.now;
    start_.config = random_config();
    look_began_ = kernel_.now;
    take(first_step(start_));
  }

  // One random event that is possible now.
  void go_on() {
    switch (random_() % 16) {
      case 0:
      case 1:
      case 2:
        return look_ends();
      case 3:
      case 4:
        return call_ends();
      case 5:
        return change_machine();
      case 6:
        return happen(KernelChanged{});
      case 7:
        return ask(HealthAsked{next_client_, caller()}, 500ms);
      case 8:
        return ask(PlanAsked{next_client_, caller()}, 500ms);
      case 9:
        return ask(RefreshAsked{next_client_, caller()}, two_looks());
      case 10:
        // A reload that has begun is called stuck after 60 s.
        return ask(ReloadAsked{next_client_, caller(), {}},
                   start_.limits.reload + 60s + two_looks());
      case 11:
        return leave();
      case 12:
        return configure();
      case 13:
        if (chance(random_, 50)) return ask(AcknowledgeAsked{next_client_, caller(), {}}, 0ms);
        return happen(WatchAsked{next_client_++, true});
      default:
        return pass_time();
    }
  }
  [[nodiscard]] unsigned events() const { return events_; }

 private:
  struct Asked {
    BootTime since;
    Milliseconds limit;
  };

  // Catch's own macros would take most of the time.
  void must(bool holds, const char* what) const {
    if (holds) return;
    FAIL(what << ": event " << events_ << ", " << happening_ << ", at " << to_ms(kernel_.now));
  }
  // The look under way and the next one end, or are called stuck within twice their limit.
  [[nodiscard]] Milliseconds two_looks() const { return 4 * start_.limits.look; }
  Caller caller() { return static_cast<Caller>(random_() % 3); }
  Config random_config() {
    Config config;
    config.modules.reload = static_cast<ReloadPolicy>(random_() % 3);
    if (chance(random_, 20)) config.readiness.adapters = 1;
    return config;
  }

  void change_machine() {
    if (kernel_.adapters.empty() || chance(random_, 5)) {
      kernel_.adapters.resize(random_() % 4);
      return;
    }
    ModelAdapter& adapter = kernel_.adapters[random_() % kernel_.adapters.size()];
    switch (random_() % 5) {
      case 0:
        adapter.up = !adapter.up;
        break;
      case 1:
        adapter.held = adapter.bound && !adapter.held;
        break;
      case 2:
        adapter.host_holds_down = !adapter.host_holds_down;
        break;
      case 3:
        adapter.needs_reload = true;
        break;
      default:
        std::erase(kernel_.modules, "ib_umad");
    }
  }

  void configure() {
    ConfigLoaded loaded;
    loaded.requested = true;
    loaded.config = random_config();
    if (chance(random_, 30)) loaded.error = "bad";
    happen(loaded);
  }

  // A look that is under way, or due, ends; it saw the machine at some time in between.
  void look_ends() {
    if (!look_began_) return;
    Snapshot seen = kernel_.snapshot();
    seen.taken_at = kernel_.now;
    if (chance(random_, 10)) seen.customization = std::string{"cloud-init"};
    lose(random_, seen.holders);
    for (Adapter& one : *seen.adapters.get())
      if (one.rdma_device.is_known()) lose(random_, one.rdma_device.get()->port.state);
    if (chance(random_, 3))
      seen.adapters = Field<std::vector<Adapter>>::unreadable({5, "reading", "the bus"});
    const Looked looked{*std::exchange(look_began_, std::nullopt), std::move(seen)};
    if (std::exchange(look_again_, false)) look_began_ = kernel_.now;
    happen(looked);
  }

  void call_ends() {
    if (!call_) return;
    const Operation operation = *std::exchange(call_, std::nullopt);
    if (chance(random_, 15))
      return happen(ExecutorUnreachable{operation, {2, "connecting to", "the executor"}});
    if (chance(random_, 10)) return happen(CallEnded{operation, fail(104, "waiting for", "it")});
    OperationResult report{Outcome::Done, "", 0, {}};
    if (chance(random_, 20)) report = failed({5, "loading", "it"});
    if (report.good() && can_apply(operation)) kernel_.apply(operation);
    happen(CallEnded{operation, report});
  }
  // The machine may have lost the adapter meanwhile.
  [[nodiscard]] bool can_apply(const Operation& operation) const {
    const std::string function = target(operation);
    for (unsigned i = 0; i < kernel_.adapters.size(); ++i)
      if (function_of(i) == function) return true;
    return std::holds_alternative<LoadModule>(operation) ||
           (std::holds_alternative<ReloadDriver>(operation) && !any_held());
  }
  [[nodiscard]] bool any_held() const {
    return std::any_of(kernel_.adapters.begin(), kernel_.adapters.end(),
                       [](const ModelAdapter& adapter) { return adapter.held; });
  }

  template <typename Question>
  void ask(const Question& question, Milliseconds limit) {
    const bool may = question.caller == Caller::Root;
    const bool reload = std::is_same_v<Question, ReloadAsked>;
    asked_[next_client_++] = {kernel_.now, reload && !may ? 0ms : limit};
    const auto before = looks_asked_;
    happen(question);
    // Unprivileged users have one look in a second, all together.
    if (question.caller == Caller::Other && looks_asked_ != before) note_look_for_others();
  }
  void note_look_for_others() {
    if (looked_for_others_)
      must(kernel_.now - *looked_for_others_ >= 1s, "one look in a second for others");
    looked_for_others_ = kernel_.now;
  }

  void leave() {
    if (asked_.empty()) return;
    const ClientId client = asked_.begin()->first;
    asked_.erase(asked_.begin());
    happen(ClientLeft{client});
    for (const auto* list : {&state_.fresh, &state_.refreshes, &state_.reloads})
      for (const Waiting& waiting : *list)
        must(waiting.client != client, "a client that leaves is forgotten");
  }

  void pass_time() {
    BootTime until = kernel_.now + Milliseconds{random_() % 5000};
    if (chance(random_, 10)) until += 60s;
    // A look that no client asked for is due, and begins.
    if (!look_began_ && looks_.deliver_by <= until) look_began_ = looks_.deliver_by;
    while (deadline_ && *deadline_ <= until) {
      kernel_.now = *deadline_;
      happen(Deadline{look_began_});
    }
    kernel_.now = std::max(kernel_.now, until);
  }

  void happen(const Event& event) {
    ++events_;
    happening_ = kind_of(event);
    take(step(std::move(state_), event, kernel_.now));
  }

  void take(Stepped next) {
    state_ = std::move(next.state);
    const Effects& effects = next.effects;
    check(effects);
    deadline_ = effects.deadline;
    if (effects.looks) looks_ = *effects.looks;
    if (effects.look) {
      ++looks_asked_;
      look_again_ = look_began_.has_value();
      if (!look_began_) look_began_ = kernel_.now;
    }
    if (effects.call) call_ = effects.call;
    if (!effects.read_config) return;
    ConfigLoaded loaded;
    loaded.config = chance(random_, 90) ? state_.config : random_config();
    happen(loaded);
  }

  void check(const Effects& effects) {
    if (effects.deadline)
      must(*effects.deadline > kernel_.now, "the next deadline is not in the past");
    if (effects.looks)
      must(effects.looks->deliver_by > kernel_.now, "the next look is not in the past");
    if (effects.ready) must(!std::exchange(ready_, true), "READY=1 once");
    if (effects.call) {
      must(!call_, "one call at a time");
      must(state_.history.busy.has_value(), "a call is known");
      must(*effects.call == state_.history.busy->operation, "the call is the one under way");
      if (takes_driver_away(*effects.call)) {
        must(state_.snapshot->holders.is_known(), "holders are known");
        must(state_.snapshot->holders.get()->empty(), "no process holds an adapter");
        must(state_.config.modules.reload != ReloadPolicy::Never, "reloads are allowed");
      }
    }
    for (const Answer& answer : effects.answers) check(answer);
    for (const auto& [client, asked] : asked_)
      must(kernel_.now - asked.since <= asked.limit, "answered in time");
    if (state_.health.state == State::Ready) check_ready();
  }
  void check(const Answer& answer) {
    if (answer.what == Answer::What::HealthAndMore) return;
    // Each client is answered once, and none that has left.
    must(asked_.erase(answer.client) == 1, "answered once, and not when it has left");
  }
  void check_ready() const {
    const auto& adapters = *state_.snapshot->adapters.get();
    // A field that one look could not read keeps its value for kSettle (test_history.cpp).
    const auto active = std::count_if(adapters.begin(), adapters.end(), [](const Adapter& adapter) {
      const RdmaDevice* rdma = adapter.rdma_device.get();
      return adapter.rdma_device.is_unreadable() ||
             (rdma != nullptr &&
              (rdma->port.state.is(PortState::Active) || rdma->port.state.is_unreadable()));
    });
    const std::size_t wanted =
        state_.config.readiness.adapters.value_or(static_cast<unsigned>(adapters.size()));
    must(static_cast<std::size_t>(active) >= wanted, "no `ready` with a port that is not ACTIVE");
  }

  Random random_;
  KernelModel kernel_;
  Start start_;
  AgentState state_;
  std::optional<BootTime> deadline_;
  Looks looks_;
  std::optional<BootTime> look_began_;  // of the look under way
  bool look_again_ = false;             // another look was asked for during it
  std::optional<Operation> call_;       // under way
  std::map<ClientId, Asked> asked_;     // clients that wait for an answer
  ClientId next_client_ = 1;
  std::optional<BootTime> looked_for_others_;
  unsigned looks_asked_ = 0;
  unsigned events_ = 0;
  const char* happening_ = "begin";
  bool ready_ = false;
};

}  // namespace

TEST_CASE("the properties hold for any events in any order", "[property]") {
  // The sanitizers take fifty times as long; each full test run has a build without them, too.
  constexpr unsigned kEvents = kInstrumented ? 20'000 : 100'000;
  constexpr unsigned kInOneWorld = 250;
  const unsigned seed = std::random_device{}();
  WARN("seed " << seed);
  unsigned events = 0;
  for (unsigned world = 0; events < kEvents; ++world) {
    INFO("world with seed " << seed + world);
    World it{seed + world};
    while (it.events() < kInOneWorld) it.go_on();
    events += it.events();
  }
}
