// SPDX-License-Identifier: GPL-2.0-or-later
// Daemon: the shell around step() (agent/plan/step.hpp). Its sources make events, and its only
// timer is set to the next deadline. The effects of an event are carried out in one fixed order
// before the next event is handled. The daemon decides nothing.
#pragma once

#include <systemd/sd-event.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/base/error.hpp"
#include "agent/base/timer.hpp"
#include "agent/codec/recording.hpp"
#include "agent/config/config_files.hpp"
#include "agent/daemon/agent_service.hpp"
#include "agent/daemon/kernel_events.hpp"
#include "agent/daemon/observer.hpp"
#include "agent/daemon/reporter.hpp"
#include "agent/model/event.hpp"
#include "agent/plan/step.hpp"
#include "agent/varlink/client.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma {

// The daemon's client of the executor: each call becomes an event when it has ended.

class ExecutorClient {
 public:
  using Post = std::function<void(Event)>;

  // `event` must outlive the client.
  ExecutorClient(sd_event* event, std::string socket, Post post);

  // Starts the call and never waits. CallEnded or ExecutorUnreachable follows from the loop; no
  // other call may be made before.
  void call(const Operation& operation);

 private:
  varlink::AsyncClient client_;
  Post post_;
};

// The environment of the daemon: this system, or that of a test.
struct Environment {
  Root root{};  // of the configuration files and of sysfs
  std::string socket = varlink::kAgentSocket;
  std::string executor_socket = varlink::kExecutorSocket;
  Observer::Observe observe = probes::observe;
  TimeLimits limits{};
};

class Daemon {
 public:
  // `event` must outlive the daemon.
  Daemon(sd_event* event, LoadedConfig loaded, Environment environment = {});

  // Listens, subscribes to events, and starts the first look. After an Error the program must end.
  [[nodiscard]] Result<void> start();
  // SIGHUP: reads the configuration again; an invalid one only adds a finding.
  void reload_config();

 private:
  // An event that is posted while another one is handled waits for its turn.
  void post(Event event);
  // As post(), but first posts the end of a look that saw nothing new, for the age in the answer.
  void post_asked(Event event);
  void happen(const Event& event);
  void carry_out(const Effects& effects, BootTime now);
  void report(const Effects& effects, BootTime now);
  void record(const Event& event, const Effects& effects, BootTime now);
  [[nodiscard]] Event read_config(bool requested) const;
  void call_at(std::optional<BootTime> deadline);
  static int on_deadline(sd_event_source* source, std::uint64_t usec, void* self);

  sd_event* event_;
  Environment environment_;
  codec::Recorder recorder_;
  bool kernel_change_recorded_ = false;  // the newest entry is a KernelChanged
  Stepped now_;                          // the state, and the effects of the last event
  std::deque<Event> events_;             // events that wait for their turn
  bool works_ = false;
  Reporter reporter_;
  ExecutorClient executor_;
  AgentService service_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<KernelEvents> kernel_events_;
  EventSource timer_;
  std::optional<BootTime> timer_at_;  // none: the timer is off
};

}  // namespace pvrdma
