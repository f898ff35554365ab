// SPDX-License-Identifier: GPL-2.0-or-later
// io.pvrdma.Agent: turns the calls of clients into events, and sends the answers back.
//
// Knows the clients and the format of answers. agent/plan/step_asked.cpp decides the answers.
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/plan/step.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma {

class AgentService {
 public:
  using Post = std::function<void(Event)>;

  // `event` must outlive the service. `post` is called from the loop with each event; `recording`
  // yields the flight recorder's document.
  AgentService(sd_event* event, Post post, std::function<std::string()> recording);

  [[nodiscard]] Result<void> listen(const std::string& path = varlink::kAgentSocket);

  // Sends the answers to the clients that have not left. Health and plan are taken from `state`,
  // and written once for all.
  void tell(const std::vector<Answer>& answers, const AgentState& state, BootTime now);
  // How many calls still wait for their last answer.
  [[nodiscard]] std::size_t waiting() const { return calls_.size(); }

 private:
  [[nodiscard]] ClientId keep(const varlink::CallPtr& call);
  template <typename Question>
  [[nodiscard]] varlink::Handler asks();
  void tell_recording(const varlink::CallPtr& call) const;

  uid_t own_uid_;
  Post post_;
  std::function<std::string()> recording_;
  ClientId next_ = 1;
  std::map<ClientId, varlink::CallPtr> calls_;  // only calls whose client has not left
  varlink::Service service_;  // destroyed first: its clients leave, which uses calls_
};

}  // namespace pvrdma
