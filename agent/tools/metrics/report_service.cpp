// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/metrics/report_service.hpp"

#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/base/guarded.hpp"
#include "agent/base/notify.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/tools/metrics/rendering.hpp"
#include "build_config.hpp"

namespace pvrdma::metrics {

namespace {

using varlink::Call;
using varlink::CallPtr;
using varlink::Json;

// However many clients ask, the boot's journal is read no more often than this.
constexpr Milliseconds kBootPause = std::chrono::seconds{10};

// Sends several replies to one call; the last ends the call. A client that did not ask for more
// than one gets the same error as from systemd's own services.
void reply_each(Call& call, const std::vector<Json>& replies) {
  if (!call.wants_more()) return call.error("org.varlink.service.ExpectedMore", Json::object());
  if (replies.empty()) return call.error("io.systemd.Metrics.NoSuchMetric", Json::object());
  for (std::size_t i = 0; i + 1 < replies.size(); ++i) call.reply_continues(replies[i]);
  call.reply(replies.back());
}

}  // namespace

ReportService::ReportService(sd_event* event, Options options)
    : event_{event},
      options_{std::move(options)},
      boot_{options_.read_boot, kBootPause},
      agent_{std::make_unique<varlink::AsyncClient>(event, options_.agent_socket)},
      service_{event, "pvrdma-agentctl"},
      idle_end_{event, service_, options_.idle} {}

Result<void> ReportService::listen_on(Fd socket) {
  auto added = service_.add_interface(
      kMetricsInterface,
      {{"List", [this](const CallPtr& call) { list(call); }},
       {"Describe", [](const CallPtr& call) { reply_each(*call, report_families()); }}});
  if (!added) return added;
  if (auto started = idle_end_.start(); !started) return started;
  return service_.listen_on(std::move(socket));
}

void ReportService::list(const CallPtr& call) {
  if (!call->wants_more()) return reply_each(*call, {});
  waiting_.push_back(call);
  call->on_gone([this, gone = call.get()] {
    std::erase_if(waiting_, [&](const CallPtr& one) { return one.get() == gone; });
  });
  // A waiting client means that the agent has been asked already. All who waited may have left.
  if (waiting_.size() == 1 && !agent_->busy()) ask();
}

void ReportService::ask() {
  auto timer = call_after(event_, CLOCK_MONOTONIC, options_.answer_within, on_time_out, this);
  // Without a timer, a question could wait without limit: so the agent is not asked.
  if (!timer) return answer_all(nullptr);
  time_out_ = std::move(*timer);
  agent_->call("io.pvrdma.Agent.GetHealth", Json::object(), [this](Result<varlink::Reply> reply) {
    time_out_.reset();
    if (!reply || !reply->error.empty()) return answer_all(nullptr);
    const auto health = ctl::health_in(std::move(reply->parameters));
    answer_all(health ? &health->value : nullptr);
  });
}

int ReportService::on_time_out(sd_event_source* source, std::uint64_t, void* self) {
  return guarded_callback(source, [self] {
    auto& service = *static_cast<ReportService*>(self);
    service.agent_ =
        std::make_unique<varlink::AsyncClient>(service.event_, service.options_.agent_socket);
    service.answer_all(nullptr);
  });
}

void ReportService::answer_all(const Health* health) {
  const auto calls = std::exchange(waiting_, {});
  if (calls.empty()) return;
  const auto replies = report_samples({health, boot_.latest(), Moment::now(), options_.version});
  for (const CallPtr& call : calls) reply_each(*call, replies);
}

Result<void> serve(const ctl::Settings& settings, const BootReader& read_boot) {
  auto socket = varlink::activated_socket("pvrdma-agent-report.socket");
  if (!socket) return fail(std::move(socket.error()));
  sd_event* raw = nullptr;
  if (const int made = sd_event_new(&raw); made < 0) return fail(-made, "making", "an event loop");
  const Handle<sd_event, sd_event_unref> event{raw};
  if (auto watching = varlink::end_on_signals(event.get()); !watching) return watching;
  ReportService service{event.get(),
                        {.agent_socket = settings.socket,
                         .answer_within = settings.answer_within,
                         .read_boot = read_boot,
                         .version = PVRDMA_VERSION}};
  if (auto listening = service.listen_on(std::move(*socket)); !listening) return listening;
  notify("READY", "1");
  const int result = sd_event_loop(event.get());
  notify("STOPPING", "1");
  if (result < 0) return fail(-result, "running", "the event loop");
  return {};
}

}  // namespace pvrdma::metrics
