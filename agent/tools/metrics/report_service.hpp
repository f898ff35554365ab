// SPDX-License-Identifier: GPL-2.0-or-later
// io.systemd.Metrics, which systemd-report asks for at each socket in /run/systemd/report: the
// families of metrics over varlink.
#pragma once

#include <systemd/sd-event.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/timer.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/tools/metrics/boot_steps.hpp"
#include "agent/varlink/activation.hpp"
#include "agent/varlink/client.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma::metrics {

extern const std::string_view kMetricsInterface;  // io.systemd.Metrics.varlink

// Asks the agent once for each List. A client that comes while the agent has not answered gets the
// same answer, so a crowd costs the agent no more than one client. No call here blocks on the
// agent.
class ReportService {
 public:
  struct Options {
    std::string agent_socket;
    Milliseconds answer_within = std::chrono::seconds{5};  // after it the agent is down
    BootReader read_boot = {};
    Milliseconds idle = std::chrono::seconds{15};  // the loop ends after this time without a client
    std::string version;
  };
  // `event` must outlive it.
  ReportService(sd_event* event, Options options);

  // Listens on a socket that systemd has bound.
  [[nodiscard]] Result<void> listen_on(Fd socket);

 private:
  void list(const varlink::CallPtr& call);
  void ask();
  void answer_all(const Health* health);
  static int on_time_out(sd_event_source* source, std::uint64_t when, void* self);

  sd_event* event_;
  Options options_;
  BootSteps boot_;
  std::vector<varlink::CallPtr> waiting_;  // clients that wait for the agent's answer
  std::unique_ptr<varlink::AsyncClient> agent_;
  EventSource time_out_;
  varlink::Service service_;
  varlink::IdleEnd idle_end_;
};

// `metrics --serve`: runs until no client has asked for a while. An Error: systemd has not started
// this process, or its socket cannot be watched.
[[nodiscard]] Result<void> serve(const ctl::Settings& settings, const BootReader& read_boot);

}  // namespace pvrdma::metrics
