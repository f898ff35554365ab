// Reporter: what the administrator is told without asking. The journal gets each change once, the
// service manager the state in a line. A quiet system logs nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "agent/base/error.hpp"
#include "agent/codec/json.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma {

class Reporter {
 public:
  // A new conclusion: logs what differs from the one before, with the steps of `boot` reached
  // since, sets STATUS=, and says READY=1 once `managers_may_start`.
  void conclude(const Health& health, bool managers_may_start, const Timeline& boot);
  // Feeds the watchdog: nothing else does, but a look that is known to hang. Tells of entries that
  // the journal did not take.
  void feed_watchdog();
  // READY=1 at the latest: the boot does not wait longer for a driver that takes its time.
  void ready();
  // The executor could not be reached, or refused. What it did or tried it has logged itself.
  void call_ended(const Operation& operation, const Result<Report>& answer);

  void config_loaded(std::size_t files);
  void config_rejected(const std::string& error);

 private:
  // Those not logged yet; none in a VM in which no adapter was seen.
  [[nodiscard]] Timeline new_steps(const Timeline& boot);
  static void log_steps(const Timeline& steps);
  void log_state(const Health& health, const Timeline& steps);
  void log_ports(const Health& health, const Timeline& steps);
  void log_gids(const Health& health);
  void log_findings(const Health& health);

  State state_ = State::Unknown;
  std::set<std::pair<StepKind, std::string>> steps_;
  std::map<std::string, std::string> ports_;    // function -> port state
  std::map<std::string, ApplicationGid> gids_;  // function -> the last one it had
  std::set<std::string> findings_;              // id and adapter of those present
  std::string status_;
  std::string last_refusal_;
  bool ready_ = false;
};

}  // namespace pvrdma
