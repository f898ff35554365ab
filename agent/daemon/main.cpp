// SPDX-License-Identifier: GPL-2.0-or-later
// pvrdma-agent: the daemon's command line, signals and event loop. Wiring only.
#include <grp.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "agent/base/format.hpp"
#include "agent/base/guarded.hpp"
#include "agent/base/log.hpp"
#include "agent/base/notify.hpp"
#include "agent/base/text.hpp"
#include "agent/config/config_files.hpp"
#include "agent/daemon/daemon.hpp"
#include "agent/varlink/activation.hpp"
#include "build_config.hpp"

namespace {

using namespace pvrdma;

constexpr const char* kHelp =
    "Usage: pvrdma-agent [--log-level LEVEL]\n"
    "                    [--check-config | --uses-guestinfo | --version | --help]\n"
    "\n"
    "Brings the PVRDMA adapters of this VM to PORT_ACTIVE and keeps them there. Run as a service:\n"
    "pvrdma-agent.service. Ask it with pvrdma-agentctl.\n"
    "\n"
    "  --check-config     read the configuration, print its first error, and exit\n"
    "  --uses-guestinfo   exit with 0 where the configuration says guestinfo.enabled = true, or 1\n"
    "  --log-level LEVEL  the least important level to log: error, warning, notice, info (the\n"
    "                     default) or debug\n"
    "  --version          print the version and exit\n"
    "  --help             print this and exit\n"
    "\n"
    "Configuration: the first pvrdma-agent.toml of /etc/pvrdma-agent, /run/pvrdma-agent-config\n"
    "and /usr/lib/pvrdma-agent, then pvrdma-agent.toml.d/*.toml of all three. None is needed.\n"
    "Only root may be able to write them, and none may be a link. With guestinfo.enabled = true\n"
    "vSphere's guestinfo.pvrdma-agent.config is read as 50-guestinfo.toml there.\n"
    "\n"
    "Exit status: 0 success, 1 failure (--check-config: invalid configuration), 2 wrong usage.\n";

// Root can read more than the service, so the check reads with the rights of the service's user.
// The real ids stay root's: otherwise that user could stop the check (kill(2)), and a package
// script that waits for its end. Where that user does not exist the agent is not installed, and the
// caller's own rights are used.
Result<void> take_rights_of_service_user() {
  const passwd* user = ::geteuid() == 0 ? ::getpwnam("pvrdma-agent") : nullptr;
  if (user == nullptr) return {};
  if (::setgroups(0, nullptr) != 0 || ::setegid(user->pw_gid) != 0 || ::seteuid(user->pw_uid) != 0)
    return fail(errno, "taking the rights of", "the user pvrdma-agent");
  return {};
}

int complain(const std::string& what) {
  std::fprintf(stderr, "%s\n", printable(what).c_str());
  return 1;
}

int check_config() {
  if (const auto taken = take_rights_of_service_user(); !taken)
    return complain(taken.error().message());
  const auto loaded = load_config();
  if (!loaded) return complain(loaded.error().message());
  for (const auto& file : loaded->files)
    std::printf("%s: good\n", printable(file.string()).c_str());
  if (!loaded->left_out.empty()) return complain(loaded->left_out);
  if (loaded->files.empty()) std::printf("No configuration file: the defaults are in force.\n");
  return 0;
}

// For pvrdma-agent-guestinfo.service. An invalid configuration counts as no; the daemon reports its
// error.
int uses_guestinfo() {
  const auto loaded = load_config();
  return loaded && loaded->config.guestinfo.enabled.value_or(false) ? 0 : 1;
}

// Runs until SIGTERM. The state of the kernel stays as it is.
Result<void> run(LoadedConfig loaded) {
  sd_event* raw = nullptr;
  if (const int made = sd_event_default(&raw); made < 0)
    return fail(-made, "creating", "the event loop");
  const Handle<sd_event, sd_event_unref> event{raw};
  // Before any thread exists, so that all threads have the signals blocked.
  if (auto watching = varlink::end_on_signals(event.get()); !watching) return watching;
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  if (sigprocmask(SIG_BLOCK, &hangup, nullptr) != 0) return fail(errno, "blocking", "signals");

  // The threads work in turn, so a heap for each would only cost memory (mallopt(3)). Huge pages
  // would cost 2 MiB each for little data (PR_SET_THP_DISABLE in prctl(2)).
  mallopt(M_ARENA_MAX, 1);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  Daemon daemon{event.get(), std::move(loaded)};
  const auto on_hangup = [](sd_event_source* source, const signalfd_siginfo* /*info*/, void* self) {
    return guarded_callback(source, [&] {
      notify("RELOADING", "1");
      static_cast<Daemon*>(self)->reload_config();
      notify("READY", "1");
    });
  };
  if (const int added = sd_event_add_signal(event.get(), nullptr, SIGHUP, on_hangup, &daemon);
      added < 0)
    return fail(-added, "watching", "signals");
  if (auto started = daemon.start(); !started) return started;
  if (const int looped = sd_event_loop(event.get()); looped < 0)
    return fail(-looped, "running", "the event loop");
  notify("STOPPING", "1");
  return {};
}

int serve() {
  const auto ended = run(load_config_or_safe());
  if (ended) return 0;
  log::error("{}", ended.error().message());
  return 1;
}

int wrong_usage(const std::string& what) {
  std::fprintf(stderr, "pvrdma-agent: %s; see --help\n", printable(what).c_str());
  return 2;
}

int run_as_told(int argc, char** argv) {
  const auto words = log::take_log_level(argc, argv);
  if (!words) return wrong_usage(words.error().message());
  if (words->empty()) return serve();
  const std::string_view option = words->size() == 1 ? words->front() : "";
  if (option == "--check-config") return check_config();
  if (option == "--uses-guestinfo") return uses_guestinfo();
  if (option == "--version") {
    std::printf("pvrdma-agent %s\n", PVRDMA_VERSION);
    return 0;
  }
  if (option == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  return wrong_usage(formatted("unexpected argument \"{}\"", (*words)[words->size() > 1 ? 1 : 0]));
}

}  // namespace

int main(int argc, char** argv) {
  return guarded_main([&] { return run_as_told(argc, argv); });
}
