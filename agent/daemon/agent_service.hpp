// io.pvrdma.Agent: answers everybody from memory, and keeps those informed who watch.
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/timer.hpp"
#include "agent/model/health.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma {

// Calls that are answered later. One whose client leaves is dropped at once: what is kept never
// grows beyond the clients that are there.
class KeptCalls {
 public:
  KeptCalls() = default;
  ~KeptCalls();
  KeptCalls(const KeptCalls&) = delete;
  KeptCalls& operator=(const KeptCalls&) = delete;
  KeptCalls(KeptCalls&&) = delete;
  KeptCalls& operator=(KeptCalls&&) = delete;

  void add(const varlink::CallPtr& call, BootTime now);
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] std::size_t size() const { return kept_.size(); }
  // A copy, as a client that is sent something may turn out to have left.
  [[nodiscard]] std::vector<varlink::CallPtr> all() const;
  // Those that came no later than `time`; they are kept no longer.
  [[nodiscard]] std::vector<varlink::CallPtr> take_until(BootTime time);

 private:
  struct Kept {
    varlink::CallPtr call;
    BootTime since;
  };
  std::vector<Kept> kept_;  // the oldest first
};

class AgentService {
 public:
  // What the service asks of the daemon.
  struct Daemon {
    std::function<Health()> health;  // as of now, its age known
    std::function<const Plan&()> plan;
    std::function<void(bool forgive)> refresh;  // look now; forgive: what was tried counts no more
    // Empty: accepted, and told by reload_ended(). Otherwise why not.
    std::function<std::string()> reload;
    std::function<bool(const std::string&)> knows_adapter;
    // False: no removed adapter of that name (none: any) is missed.
    std::function<bool(const std::optional<std::string>&)> acknowledge;
  };

  // `event` must outlive the service.
  AgentService(sd_event* event, Daemon daemon);

  [[nodiscard]] Result<void> listen(const std::string& path = varlink::kAgentSocket);

  // A pass has finished: tells those who watch, if `changed`.
  void concluded(bool changed);
  // The pass over a look that began then has finished: answers those who had asked for one by then.
  void looked(BootTime began);
  // The reload that was accepted came to its end. `failure` empty: done. `holders`: who is in the
  // way.
  void reload_ended(const std::string& failure, const std::vector<Holder>& holders);
  [[nodiscard]] bool reload_awaited() const { return !reloads_.empty(); }
  // How many watch, or wait for a look.
  [[nodiscard]] std::size_t waiting() const { return watchers_.size() + refreshes_.size(); }

 private:
  void get_health(const varlink::CallPtr& call);
  void watch_health(const varlink::CallPtr& call);
  void get_plan(const varlink::CallPtr& call);
  void refresh(const varlink::CallPtr& call);
  void reload(const varlink::CallPtr& call);
  void acknowledge(const varlink::CallPtr& call);
  [[nodiscard]] std::string health_text() const;
  // Now, or by a timer where the last such look was less than a second ago.
  void look_for_others(BootTime now);
  static int on_look_due(sd_event_source* source, std::uint64_t usec, void* self);

  sd_event* event_;
  uid_t own_uid_;
  Daemon daemon_;
  varlink::Service service_;
  KeptCalls watchers_, refreshes_;
  std::vector<varlink::CallPtr> reloads_;  // root's alone, so few
  BootTime looked_for_others_ = BootTime{} - std::chrono::hours{1};
  EventSource timer_;
};

}  // namespace pvrdma
