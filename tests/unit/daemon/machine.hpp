// SPDX-License-Identifier: GPL-2.0-or-later
// A whole daemon on a made-up machine: with its own loop, sockets, threads and kernel events, the
// planner's model of the kernel in place of this system, and an executor that changes the model.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/codec/json.hpp"
#include "agent/daemon/daemon.hpp"
#include "agent/varlink/interfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/notified.hpp"
#include "tests/unit/plan/kernel_model.hpp"
#include "tests/unit/tree.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

namespace pvrdma::test {

class Machine {
 public:
  // A machine with one adapter, whose driver is not loaded yet.
  Machine() {
    model_.modules = {kNetModule};
    model_.adapters.resize(1);
    std::map<std::string, varlink::Handler> handlers;
    for (const auto& [verb, name] : kWordsOf<Verb>)
      handlers[name] = [this, verb = verb](const varlink::CallPtr& call) { carry_out(verb, call); };
    REQUIRE(executor_.add_interface(varlink::kExecutorInterface, std::move(handlers)));
    REQUIRE(executor_.listen(sockets_ / "executor", 0600));
  }

  // Changes the model, or its appearance, while the daemon may be looking at it.
  void change(const std::function<void(KernelModel&)>& by) {
    const std::lock_guard lock{mutex_};
    by(model_);
  }
  void see(std::function<void(Snapshot&)> otherwise) {
    const std::lock_guard lock{mutex_};
    otherwise_ = std::move(otherwise);
  }
  void configure(const std::string& toml) const {
    tree_.file("/etc/pvrdma-agent/pvrdma-agent.toml", toml);
  }

  // From now on no client can connect to the executor.
  void lose_executor() const { std::filesystem::remove(sockets_ / "executor"); }

  // Starts the daemon with the present configuration.
  Daemon& start(Milliseconds ready_limit = std::chrono::hours{1},
                Milliseconds reload_limit = std::chrono::hours{1},
                Milliseconds look_limit = std::chrono::hours{1}) {
    auto loaded = load_config(tree_.root());
    REQUIRE(loaded);
    const auto observe = [this](const probes::Instruments&, const probes::Look&) { return look(); };
    daemon_ = std::make_unique<Daemon>(
        loop.get(), std::move(*loaded),
        Environment{tree_.root(), sockets_ / "agent", sockets_ / "executor", observe,
                    TimeLimits{ready_limit, reload_limit, std::chrono::seconds{10}, look_limit}});
    REQUIRE(daemon_->start());
    return *daemon_;
  }
  [[nodiscard]] RawClient client() const { return {loop, sockets_ / "agent"}; }
  // A method's answer to root: its parameters; for an error its name as "error".
  [[nodiscard]] nlohmann::json ask(const std::string& method, const nlohmann::json& parameters =
                                                                  nlohmann::json::object()) const {
    auto asking = client();
    const nlohmann::json question{{"method", "io.pvrdma.Agent." + method},
                                  {"parameters", parameters}};
    const auto reply = asking.ask(question.dump());
    REQUIRE(reply);
    const auto said = nlohmann::json::parse(*reply);
    nlohmann::json told = said.value("parameters", nlohmann::json::object());
    if (said.contains("error")) told["error"] = said["error"];
    return told;
  }
  [[nodiscard]] nlohmann::json health() const { return ask("GetHealth")["health"]; }
  [[nodiscard]] bool becomes(const std::string& state) const {
    return loop.run_until([&] { return health()["state"] == state; });
  }
  [[nodiscard]] bool has_finding(const std::string& id) const {
    const auto findings = health()["findings"];
    return std::any_of(findings.begin(), findings.end(),
                       [&](const auto& finding) { return finding["id"] == id; });
  }

  Loop loop;
  std::vector<std::string> asked;  // operations asked of the executor, in order
  bool executor_hangs = false;     // the executor keeps calls without an answer

 private:
  Snapshot look() {
    const std::lock_guard lock{mutex_};
    model_.now = BootClock::now();
    Snapshot seen = model_.snapshot();
    if (otherwise_) otherwise_(seen);
    return seen;
  }
  void carry_out(Verb verb, const varlink::CallPtr& call) {
    const auto operation = codec::operation_from(verb, call->parameters());
    REQUIRE(operation);
    asked.push_back(describe(*operation));
    if (executor_hangs) return kept_.push_back(call);
    change([&](KernelModel& model) {
      model.now = BootClock::now();
      model.apply(*operation);
      model.ledger.attempts.back().finished = model.ledger.attempts.back().started;
    });
    OperationResult done;
    done.outcome = Outcome::Done;
    call->reply({{"result", codec::to_json(done)}});
  }

  ErrorOutput quiet_;
  TemporaryDirectory sockets_;
  Tree tree_;
  std::mutex mutex_;
  KernelModel model_;
  std::function<void(Snapshot&)> otherwise_;
  std::vector<varlink::CallPtr> kept_;
  varlink::Service executor_{loop.get(), "test"};
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace pvrdma::test
