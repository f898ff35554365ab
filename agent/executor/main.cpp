// SPDX-License-Identifier: GPL-2.0-or-later
// pvrdma-agent-executor: the only privileged process of pvrdma-agent. Its socket unit starts it for
// a request, and it exits after fifteen seconds without a client, but not while it loads a module.
//
// This file wires and logs; guard.hpp decides what is allowed, and operations.hpp does it.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "agent/base/format.hpp"
#include "agent/base/guarded.hpp"
#include "agent/base/log.hpp"
#include "agent/base/notify.hpp"
#include "agent/base/text.hpp"
#include "agent/executor/operations.hpp"
#include "agent/executor/server.hpp"
#include "agent/executor/uverbs_access.hpp"
#include "agent/model/messages.hpp"
#include "agent/model/timeline.hpp"
#include "agent/varlink/activation.hpp"
#include "build_config.hpp"

namespace pvrdma::executor {

namespace {

using log::Level;

constexpr const char* kUsage =
    "Usage: pvrdma-agent-executor\n"
    "Carries out the privileged operations of pvrdma-agent. systemd starts it by way of\n"
    "pvrdma-agent-executor.socket; it takes only these arguments:\n"
    "  --release          finish what a killed executor has left half done: for the removal of "
    "the\n"
    "                     package, after the services have been stopped\n"
    "  --log-level LEVEL  the least important level to log: error, warning, notice, info (the\n"
    "                     default) or debug\n"
    "  --help             print this text\n"
    "  --version          print the version\n";

Level level_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Done:
    case Outcome::AlreadyDone:
      return Level::Info;
    case Outcome::InUse:
    case Outcome::NotShipped:
      return Level::Notice;
    default:
      return Level::Warning;
  }
}

// The step of the boot that an operation was (agent/model/timeline.hpp); empty: none.
const char* step_of(const Operation& operation, const OperationResult& result) {
  if (result.outcome != Outcome::Done) return "";
  if (verb(operation) == Verb::ReloadDriver) return to_string(StepKind::DriverReloaded);
  return verb(operation) == Verb::LoadModule ? to_string(StepKind::ModuleLoaded) : "";
}

std::string in_usec(Milliseconds time) {
  return std::to_string(std::chrono::microseconds{time}.count());
}

// The agent repeats a refused request, with growing pauses, for as long as it needs the operation.
Level level_of(const OperationResult& result, bool counted) {
  if (result.repeated) return Level::Debug;
  return counted ? level_of(result.outcome) : Level::Warning;
}

// `counted`: whether the ledger could be written; otherwise `result` says so.
void log_operation(const Operation& operation, const OperationResult& result, Milliseconds took,
                   bool counted) {
  std::string message = describe(operation) + ": ";
  if (result.detail.empty() || result.outcome == Outcome::Done)
    message += to_string(result.outcome);
  if (!result.detail.empty() && result.outcome == Outcome::Done) message += ", ";
  message += result.detail;
  const Level level = level_of(result, counted);
  const std::string target_name = target(operation);
  log::event(level, result.good() ? messages::kActionDone : messages::kActionFailed, message,
             {{"PVRDMA_VERB", to_string(verb(operation))},
              {"PVRDMA_TARGET", target_name},
              {"PVRDMA_OUTCOME", to_string(result.outcome)},
              {"PVRDMA_STEP", step_of(operation, result)},
              {"PVRDMA_USEC_SINCE_BOOT", in_usec(BootClock::now().time_since_epoch())},
              {"PVRDMA_USEC_TOOK", in_usec(took)}});
}

void log_error(const Error& error) { log::error("{}", error.message()); }

// Runs no destructor, as the thread that loads a module may still use what a destructor would free.
[[noreturn]] void leave_at_once(const Result<void>& ended) {
  if (!ended) log_error(ended.error());
  ::_exit(ended ? EXIT_SUCCESS : EXIT_FAILURE);
}

Result<void> serve() {
  auto socket = varlink::activated_socket("pvrdma-agent-executor.socket");
  if (!socket) return fail(std::move(socket.error()));
  const auto owner = socket_owner(socket->get());
  if (!owner) return fail(owner.error());
  sd_event* raw = nullptr;
  if (const int made = sd_event_new(&raw); made < 0) return fail(-made, "making", "an event loop");
  const Handle<sd_event, sd_event_unref> event{raw};
  // A kernel call that changes something cannot be cancelled half-way, so a signal waits for it.
  if (auto watching = varlink::end_on_signals(event.get()); !watching) return watching;

  const auto opened = reopen_access_left_closed(kAccessMemo);
  if (!opened) log_error(opened.error());
  if (opened && *opened) log::warning("opened a verbs node that a dead executor left closed");
  const auto freed = free_left_held_back(Root{});
  if (!freed) log_error(freed.error());
  for (const std::string& function : freed.value_or(std::vector<std::string>{}))
    log::notice(
        "{} was held back from its driver, by the initramfs or by an executor that died; the "
        "driver is loaded, so the function is free now",
        function);
  Operations operations{Places{}};
  if (!operations.ledger_state()) log_error(operations.ledger_state().error());

  const auto tell = [&](const Operation& operation, const OperationResult& result,
                        Milliseconds took) {
    log_operation(operation, result, took, operations.ledger_state().has_value());
  };
  Server server{event.get(), operations, {.agent_uid = *owner}, tell};
  if (auto listening = server.listen_on(std::move(*socket)); !listening) return listening;
  notify("READY", "1");
  const int result = sd_event_loop(event.get());
  notify("STOPPING", "1");
  log::tell_dropped();
  Result<void> ended;
  if (result < 0) ended = fail(-result, "running", "the event loop");
  if (operations.is_loading()) leave_at_once(ended);
  return ended;
}

int end_half_done() {
  const OperationResult result = release(Places{});
  if (result.good() && !result.detail.empty()) log::warning("{}", result.detail);
  if (result.good()) return EXIT_SUCCESS;
  log::error("{}", result.detail);
  return EXIT_FAILURE;
}

int wrong_usage(const std::string& what) {
  std::fprintf(stderr, "pvrdma-agent-executor: %s; see --help\n", printable(what).c_str());
  return 2;
}

int run(int argc, char** argv) {
  const auto words = log::take_log_level(argc, argv);
  if (!words) return wrong_usage(words.error().message());
  const std::string_view option = words->empty() ? "" : words->front();
  if (option == "--help" || option == "--version") {
    std::fputs(option == "--help" ? kUsage : "pvrdma-agent-executor " PVRDMA_VERSION "\n", stdout);
    return EXIT_SUCCESS;
  }
  if (option == "--release" && words->size() == 1) return end_half_done();
  if (!words->empty()) return wrong_usage(formatted("unexpected argument \"{}\"", option));
  const auto served = serve();
  if (served) return EXIT_SUCCESS;
  log_error(served.error());
  return EXIT_FAILURE;
}

}  // namespace

}  // namespace pvrdma::executor

int main(int argc, char** argv) {
  return pvrdma::guarded_main([&] { return pvrdma::executor::run(argc, argv); });
}
