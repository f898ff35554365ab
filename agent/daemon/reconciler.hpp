// Reconciler: one pass. A look comes in; plan and health come out, and the actions go to the
// dispatcher. Knows no sockets and no clocks but the values it is given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "agent/config/config_files.hpp"
#include "agent/daemon/observer.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

class Reconciler {
 public:
  Reconciler(LoadedConfig loaded, BootTime started);

  // One pass over a new look. `busy`: the executor's call under way; `last_answer`: when the last
  // one came back.
  void pass(const Look& look, const std::optional<BusyCall>& busy, BootTime last_answer,
            BootTime now);
  // The same look again: the configuration, the clock or the executor's state has changed.
  void again(const std::optional<BusyCall>& busy, BootTime now);

  // A new good configuration, or the reason why the one on disk is not (the old one stays).
  void use(Config config, std::string left_out);
  void reject_config(std::string error) { config_error_ = std::move(error); }
  // The agent has not read a good one since it started: the safe subset is in force.
  [[nodiscard]] bool has_no_good_config() const { return is_safe_subset_; }
  // Whether the one on disk was rejected for that reason already.
  [[nodiscard]] bool rejects(const std::string& error) const { return error == config_error_; }

  // True where the files may have changed without any event since the configuration was read, and
  // that is not left for the administrator to say: what customizes the VM has ended, or may have
  // before the first look; or no good configuration has been read yet.
  [[nodiscard]] bool config_may_be_old(const Snapshot& now) const;
  // Whether this is the configuration in force.
  [[nodiscard]] bool uses(const Config& config, const std::string& left_out) const;

  // Forgives what was tried so far.
  void start_afresh(BootTime now) { history_.fresh_start = now; }
  void request_reload(bool requested) { history_.reload_requested = requested; }
  // Why the executor could not be asked the last time; none: it was asked.
  void executor_missing(std::optional<Error> why) { history_.executor_missing = std::move(why); }
  // Since when a look has hung; none: none does.
  void look_hangs(std::optional<BootTime> since) { look_hangs_ = since; }
  // Why a reload that an administrator asks for must not be done, by the newest look; none: nothing
  // speaks against it.
  [[nodiscard]] std::optional<Finding> reload_refusal(BootTime now) const;
  // Misses a removed adapter (its function, MAC or netdev; none: all of them) no longer. False:
  // none is missed by that name.
  bool acknowledge_removed(const std::optional<std::string>& name);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const Health& health() const { return health_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  // What this agent has seen of it.
  [[nodiscard]] const Timeline& boot() const { return boot_; }
  [[nodiscard]] const Snapshot* snapshot() const { return snapshot_ ? &*snapshot_ : nullptr; }
  // False where the newest look began before the executor's last answer: it proves nothing.
  [[nodiscard]] bool may_act() const { return may_act_; }
  // True once network managers may start (READY=1).
  [[nodiscard]] bool managers_may_start() const { return managers_may_start_; }
  // How often to look if nothing happens.
  [[nodiscard]] Pace pace() const;

 private:
  // `before`: the look before this one; null: there was none.
  void conclude(const Snapshot* before, const std::optional<BusyCall>& busy, BootTime now);

  Config config_;
  std::string config_error_;
  std::string left_out_;
  bool is_safe_subset_;  // has_no_good_config()
  std::optional<BootTime> look_hangs_;
  History history_;
  std::optional<Snapshot> snapshot_;
  Plan plan_;
  Health health_;
  Timeline boot_;
  bool may_act_ = false;
  bool managers_may_start_ = false;
};

}  // namespace pvrdma
