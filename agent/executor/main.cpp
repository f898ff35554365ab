// pvrdma-agent-executor: the only privileged process of pvrdma-agent. Started by its socket unit
// for a request, gone when nobody has asked for five seconds.
//
// This file wires and logs; what is allowed is guard.hpp's, what is done is operations.hpp's.
#include <signal.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "agent/base/guarded.hpp"
#include "agent/base/journal.hpp"
#include "agent/executor/caller.hpp"
#include "agent/executor/server.hpp"
#include "agent/executor/uverbs_access.hpp"
#include "agent/model/messages.hpp"
#include "build_config.hpp"

namespace pvrdma::executor {

namespace {

using journal::Priority;

constexpr const char* kUsage =
    "Usage: pvrdma-agent-executor\n"
    "Carries out the privileged operations of pvrdma-agent. systemd starts it by way of\n"
    "pvrdma-agent-executor.socket; it takes no arguments but these:\n"
    "  --help     print this text\n"
    "  --version  print the version\n";

Priority priority_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Done:
      return Priority::Info;
    case Outcome::AlreadyDone:
      return Priority::Debug;
    case Outcome::InUse:
    case Outcome::NotShipped:
      return Priority::Notice;
    default:
      return Priority::Warning;
  }
}

void log_operation(const Operation& operation, const Report& report) {
  std::string message = describe(operation) + ": ";
  if (report.detail.empty() || report.outcome == Outcome::Done)
    message += to_string(report.outcome);
  if (!report.detail.empty() && report.outcome == Outcome::Done) message += ", ";
  message += report.detail;
  const std::string target_name = target(operation);
  journal::log(priority_of(report.outcome),
               report.good() ? messages::kActionDone : messages::kActionFailed, message,
               {{"PVRDMA_VERB", verb(operation)},
                {"PVRDMA_TARGET", target_name},
                {"PVRDMA_OUTCOME", to_string(report.outcome)}});
}

void log_error(const Error& error) { journal::log(Priority::Error, {}, error.message()); }

Result<Fd> inherited_socket() {
  const int count = sd_listen_fds(1);
  if (count < 0) return fail(-count, "taking over", "the sockets of systemd");
  if (count != 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_STREAM, 1, nullptr, 0) <= 0)
    return fail(
        0, "this program is started by systemd: systemctl start pvrdma-agent-executor.socket", "");
  return Fd{SD_LISTEN_FDS_START};
}

// SIGTERM waits, blocked, until the operation under way has ended: a kernel call that is changing
// something cannot be taken back half-way.
Result<void> end_on_signals(sd_event* event) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  if (sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return fail(errno, "blocking", "signals");
  for (const int signal : {SIGTERM, SIGINT}) {
    // No handler: sd-event ends its loop.
    const int result = sd_event_add_signal(event, nullptr, signal, nullptr, nullptr);
    if (result < 0) return fail(-result, "watching", "signals");
  }
  return {};
}

Result<void> serve() {
  auto socket = inherited_socket();
  if (!socket) return fail(std::move(socket.error()));
  const auto owner = owner_of(socket->get());
  if (!owner) return fail(owner.error());
  sd_event* raw = nullptr;
  if (const int made = sd_event_new(&raw); made < 0) return fail(-made, "making", "an event loop");
  const Handle<sd_event, sd_event_unref> event{raw};
  if (auto watching = end_on_signals(event.get()); !watching) return watching;

  const auto opened = reopen_access_left_closed(kAccessMemo);
  if (!opened) log_error(opened.error());
  if (opened && *opened)
    journal::log(Priority::Warning, {}, "opened a verbs node that a dead executor left closed");
  Operations operations{Places{}};
  if (!operations.ledger_state()) log_error(operations.ledger_state().error());

  Server server{event.get(), operations, {*owner, PVRDMA_VERSION}, log_operation};
  if (auto listening = server.listen_on(std::move(*socket)); !listening) return listening;
  static_cast<void>(sd_notify(0, "READY=1"));
  const int result = sd_event_loop(event.get());
  static_cast<void>(sd_notify(0, "STOPPING=1"));
  if (result < 0) return fail(-result, "running", "the event loop");
  return {};
}

int run(int argc, char** argv) {
  const std::string_view argument = argc > 1 ? argv[1] : "";
  if (argument == "--help" || argument == "--version") {
    std::fputs(argument == "--help" ? kUsage : "pvrdma-agent-executor " PVRDMA_VERSION "\n",
               stdout);
    return EXIT_SUCCESS;
  }
  if (argc > 1) {
    std::fprintf(stderr, "pvrdma-agent-executor: %s is not an option; see --help\n", argv[1]);
    return 2;
  }
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
