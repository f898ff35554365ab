// SPDX-License-Identifier: GPL-2.0-or-later
// Timelines for tests: a boot with one adapter, in which each step takes its usual time.
#pragma once

#include <string>

#include "agent/model/timeline.hpp"

namespace pvrdma::test {

inline const std::string kFunction = "0000:13:00.1";

inline void put(Timeline& boot, StepKind kind, const std::string& subject, int at_ms) {
  boot.add({kind, subject, BootTime{Milliseconds{at_ms}}, std::nullopt, false});
}

// The agent starts at 2 s and is done one second later; from the carrier on, each step is
// `later_ms` later.
inline Timeline usual_boot(const std::string& id = "aa", int later_ms = 0) {
  Timeline boot;
  boot.boot_id = id;
  boot.began = "2026-11-21T02:31:43Z";
  boot.kernel = "6.1.0-test";
  put(boot, StepKind::AgentStarted, "", 2000);
  boot.add({StepKind::AdapterSeen, kFunction, BootTime{Milliseconds{2010}}, std::nullopt, true});
  boot.add(
      {StepKind::ModuleLoaded, "ib_umad", BootTime{Milliseconds{2200}}, Milliseconds{40}, false});
  put(boot, StepKind::DriverLive, "", 2500);
  put(boot, StepKind::LinkUp, kFunction, 2600);
  put(boot, StepKind::Carrier, kFunction, 2610 + later_ms);
  put(boot, StepKind::PortActive, kFunction, 2700 + later_ms);
  put(boot, StepKind::Ready, "", 3000 + later_ms);
  return boot;
}

}  // namespace pvrdma::test
