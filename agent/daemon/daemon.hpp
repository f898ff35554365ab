// Daemon: the parts, and who tells whom. Subscribes first, then looks.
#pragma once

#include <systemd/sd-event.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/timer.hpp"
#include "agent/config/config_files.hpp"
#include "agent/daemon/agent_service.hpp"
#include "agent/daemon/dispatcher.hpp"
#include "agent/daemon/kernel_events.hpp"
#include "agent/daemon/observer.hpp"
#include "agent/daemon/pass_line.hpp"
#include "agent/daemon/reconciler.hpp"
#include "agent/daemon/reporter.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma {

// What the daemon finds around it: this system, or a test's own.
struct Surroundings {
  Root root{};  // of the configuration, and of the functions on the bus
  std::string socket = varlink::kAgentSocket;
  std::string executor_socket = varlink::kExecutorSocket;
  Observer::Observe observe = probes::observe;
  // READY=1 comes at the latest then, whatever the driver does: network managers wait for it.
  Milliseconds ready_limit{20'000};
  // A reload that was asked for and could neither be begun nor refused is given up then.
  Milliseconds reload_limit{30'000};
  // A look is handed over every minute at least. After so long without one, a look that has been
  // under way for half of it hangs. Twice within WatchdogSec= of the unit, less a bit.
  Milliseconds look_overdue{70'000};
};

class Daemon {
 public:
  // `event` must outlive the daemon.
  Daemon(sd_event* event, LoadedConfig loaded, Surroundings surroundings = {});

  // Listens, subscribes, and asks for the first look. An Error here ends the program.
  [[nodiscard]] Result<void> start();
  // SIGHUP: reads the configuration again; a bad one changes nothing but a finding.
  void reload_config();

 private:
  void on_look(Look look);
  void take_over(Result<LoadedConfig> loaded);
  void on_answer(const Operation& operation, const Result<Report>& answer);
  void think_again();
  void publish(const Health& before);
  void log_pass();
  void await_look(Milliseconds at_most);
  void say_that_look_hangs();
  void settle_reload_request();
  // Unless it is under way.
  void give_reload_up(const std::string& why, const std::vector<Holder>& holders);
  void end_reload(const std::string& failure, const std::vector<Holder>& holders);
  // Null: they are not known, or not yet.
  [[nodiscard]] const std::vector<Adapter>* adapters() const;
  [[nodiscard]] Health current_health() const;
  [[nodiscard]] std::string accept_reload();
  static int on_ready_limit(sd_event_source* source, std::uint64_t usec, void* self);
  static int on_look_overdue(sd_event_source* source, std::uint64_t usec, void* self);
  static int on_reload_limit(sd_event_source* source, std::uint64_t usec, void* self);

  sd_event* event_;
  Surroundings surroundings_;
  Reconciler reconciler_;
  Dispatcher dispatcher_;
  AgentService service_;
  Reporter reporter_;
  PassLog pass_log_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<KernelEvents> events_;
  std::optional<BootTime> reload_asked_;  // by io.pvrdma.Agent.Reload
  EventSource reload_limit_;              // while one is
  EventSource ready_limit_;
  EventSource look_overdue_;
};

}  // namespace pvrdma
