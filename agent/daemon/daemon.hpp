// SPDX-License-Identifier: GPL-2.0-or-later
// Daemon: the shell around step() (agent/plan/step.hpp). Its sources make events, its one timer
// carries the next deadline, and what follows from an event is carried out in one fixed order
// before the next event is looked at. It decides nothing.
#pragma once

#include <systemd/sd-event.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "agent/base/error.hpp"
#include "agent/base/timer.hpp"
#include "agent/codec/recording.hpp"
#include "agent/config/config_files.hpp"
#include "agent/daemon/agent_service.hpp"
#include "agent/daemon/executor_client.hpp"
#include "agent/daemon/kernel_events.hpp"
#include "agent/daemon/observer.hpp"
#include "agent/daemon/reporter.hpp"
#include "agent/plan/step.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma {

// What the daemon finds around it: this system, or a test's own.
struct Surroundings {
  Root root{};  // of the configuration, and of the functions on the bus
  std::string socket = varlink::kAgentSocket;
  std::string executor_socket = varlink::kExecutorSocket;
  Observer::Observe observe = probes::observe;
  Limits limits{};
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
  // What happens while another event is worked on comes after it.
  void post(Event event);
  // What a client asks rests on looks that saw nothing new as well.
  void post_asked(Event event);
  void happen(const Event& event);
  void carry_out(const Effects& effects, BootTime now);
  void report(const Effects& effects, BootTime now);
  void record(const Event& event, const Effects& effects, BootTime now);
  [[nodiscard]] Event read_config(bool requested) const;
  void call_at(std::optional<BootTime> deadline);
  static int on_deadline(sd_event_source* source, std::uint64_t usec, void* self);

  sd_event* event_;
  Surroundings surroundings_;
  codec::Recorder recorder_;
  bool kernel_change_recorded_ = false;  // by the newest entry
  Stepped now_;                          // the state, and what followed from the event before
  std::deque<Event> events_;             // that have happened and are not worked on yet
  bool works_ = false;
  Reporter reporter_;
  ExecutorClient executor_;
  AgentService service_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<KernelEvents> kernel_events_;
  EventSource timer_;
  std::optional<BootTime> timer_at_;  // none: it is off
};

}  // namespace pvrdma
