// SPDX-License-Identifier: GPL-2.0-or-later
// Reporter: what the administrator is told without asking. The journal gets each change once, the
// service manager the state in a line. A quiet system logs nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"
#include "agent/plan/step.hpp"

namespace pvrdma {

class Reporter {
 public:
  // A new conclusion: logs what differs from the one before, with the steps of `boot` reached
  // since, and sets STATUS=.
  void conclude(const Health& health, const Timeline& boot);
  // A pass in one line at level debug (agent/plan/pass_line.hpp), where it is news: it differs from
  // the last one, or its actions are carried out. `next`: when the next look is due at the latest.
  void passed(const Snapshot& snapshot, const Plan& plan, bool acts, Milliseconds next);
  static void call_failed(const CallFailed& call);
  static void config_loaded(std::size_t files);
  static void config_rejected(const std::string& error);
  // WATCHDOG=1, with the count of entries that the journal did not take; and READY=1.
  static void alive();
  static void ready();

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
  std::string pass_;
};

}  // namespace pvrdma
