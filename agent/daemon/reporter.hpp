// SPDX-License-Identifier: GPL-2.0-or-later
// Reporter: writes each change to the journal once, and the state as one line to the service
// manager. A quiet system logs nothing.
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
  // Logs the differences from the previous health and the new steps of `boot`, and sets STATUS=.
  void conclude(const Health& health, const Timeline& boot);
  // Logs a pass as one line at level debug (agent/plan/planner.hpp), if the line differs from the
  // last one or actions are carried out. `next`: the time to the next look, at most.
  void passed(const Snapshot& snapshot, const Plan& plan, bool acts, Milliseconds next);
  static void call_failed(const CallFailed& call);
  static void config_loaded(std::size_t files);
  static void config_rejected(const std::string& error);
  // Sends WATCHDOG=1, and logs the number of entries that the journal did not take.
  static void alive();
  static void ready();
  // Logs by how much a look began late, if that is ten seconds or more. Any thread may call it.
  static void woke_late(Milliseconds late);

 private:
  // The steps that are not logged yet; none in a VM in which no adapter was seen.
  [[nodiscard]] Timeline new_steps(const Timeline& boot);
  static void log_steps(const Timeline& steps);
  void log_state(const Health& health, const Timeline& steps);
  void log_ports(const Health& health, const Timeline& steps);
  void log_gids(const Health& health);
  void log_findings(const Health& health);

  State state_ = State::Unknown;
  std::set<std::pair<StepKind, std::string>> steps_;
  std::map<std::string, std::string> ports_;    // function -> port state
  std::map<std::string, ApplicationGid> gids_;  // function -> its last GID
  std::set<std::string> findings_;              // keys of the present findings
  std::string status_;
  std::string pass_;
};

}  // namespace pvrdma
