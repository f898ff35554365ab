// io.pvrdma.Agent: answers everybody from memory, and keeps those informed who watch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma {

class AgentService {
 public:
  // What the service asks of the daemon.
  struct Daemon {
    std::function<Health()> health;  // as of now, its age known
    std::function<const Plan&()> plan;
    std::function<std::vector<Timeline>()> boots;  // this one first
    std::function<void(bool forgive)> refresh;  // look now; forgive: what was tried counts no more
    // Empty: accepted, and told by reload_ended(). Otherwise why not.
    std::function<std::string()> reload;
    std::function<bool(const std::string&)> knows_adapter;
    // False: no removed adapter of that name (none: any) is missed.
    std::function<bool(const std::optional<std::string>&)> acknowledge;
  };

  AgentService(sd_event* event, Daemon daemon);

  [[nodiscard]] Result<void> listen(const std::string& path = varlink::kAgentSocket);

  // A pass has finished: answers those who asked for one, and the watchers if `changed`.
  void pass_finished(bool changed);
  // The reload that was accepted came to its end. `failure` empty: done. `holders`: who is in the
  // way.
  void reload_ended(const std::string& failure, const std::vector<Holder>& holders);
  [[nodiscard]] bool reload_awaited() const { return !reloads_.empty(); }

 private:
  void get_health(const varlink::CallPtr& call);
  void watch_health(const varlink::CallPtr& call);
  void get_plan(const varlink::CallPtr& call);
  void get_boots(const varlink::CallPtr& call);
  void refresh(const varlink::CallPtr& call);
  void reload(const varlink::CallPtr& call);
  void acknowledge(const varlink::CallPtr& call);
  [[nodiscard]] std::string health_text() const;

  Daemon daemon_;
  varlink::Service service_;
  std::vector<varlink::CallPtr> watchers_, refreshes_, reloads_;
};

}  // namespace pvrdma
