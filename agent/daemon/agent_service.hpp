// SPDX-License-Identifier: GPL-2.0-or-later
// io.pvrdma.Agent: what clients ask becomes events, and the answers to them go back.
//
// Knows who asked and how an answer is written, and nothing of what is answered: that is
// agent/plan/step_asked.cpp's.
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

  // `event` must outlive the service. `post` takes an event from the loop; `recording` is the
  // flight recorder's document.
  AgentService(sd_event* event, Post post, std::function<std::string()> recording);

  [[nodiscard]] Result<void> listen(const std::string& path = varlink::kAgentSocket);

  // To those that have not left. Health and plan are `state`'s, written once for all.
  void tell(const std::vector<Answer>& answers, const AgentState& state, BootTime now);
  // How many calls have not had their last answer.
  [[nodiscard]] std::size_t waiting() const { return calls_.size(); }

 private:
  [[nodiscard]] ClientId keep(const varlink::CallPtr& call);
  [[nodiscard]] Caller caller_of(const varlink::CallPtr& call) const;
  template <typename Question>
  [[nodiscard]] varlink::Handler asks();
  void tell_recording(const varlink::CallPtr& call) const;

  uid_t own_uid_;
  Post post_;
  std::function<std::string()> recording_;
  ClientId next_ = 1;
  std::map<ClientId, varlink::CallPtr> calls_;  // without those whose client has left
  varlink::Service service_;                    // goes first: its clients' leaving is told of
};

}  // namespace pvrdma
