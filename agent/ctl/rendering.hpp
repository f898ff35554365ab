// SPDX-License-Identifier: GPL-2.0-or-later
// Health, Plan and Timelines as text for an administrator. Pure: values in, text out.
//
// The worst first, and only items that need attention. Texts end with a newline. ASCII, so that a
// bare console shows it; only names from outside may contain other characters, and those are made
// printable here.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::ctl {

// One screen: verdict, the executor's call, findings, adapters, notes.
[[nodiscard]] std::string render_health(const Health& health, const Style& style);
// A header, and a line for each adapter; where the state is unknown, also why the lines may be
// wrong.
[[nodiscard]] std::string render_status(const Health& health, const Style& style);
// The actions to do now, with their reasons; "nothing to do" where there are none.
[[nodiscard]] std::string render_plan(const Plan& plan, const Style& style);
// 0 nothing to do, 1 actions or warnings, 2 an error among the findings.
[[nodiscard]] int plan_exit_code(const Plan& plan);

// The differences between two Healths, one line each: "state: converging -> ready: 1 of 1 adapters
// ready", "0000:13:00.1 port: DOWN -> ACTIVE", "finding driver-in-use (warning): …", "finding
// driver-in-use: gone". `before` may be null: then everything is new. Empty where only ages
// changed.
[[nodiscard]] std::vector<std::string> changes(const Health* before, const Health& after);

// The output of a check for a monitor of the Nagios family (Icinga, Naemon, Checkmk's MRPE): one
// line of text, then "|" and numbers for graphs ("Nagios Plugins Development Guidelines",
// monitoring-plugins.org), as "PVRDMA OK - 2 of 2 adapters ready | adapters=2;;;0 ready=2;2:;1:;0;2
// reloads=0c …", with a newline.
[[nodiscard]] std::string plugin_line(const Health& health, BootTime now);
// The same without an answer of the agent: status 3, unknown.
[[nodiscard]] std::string plugin_line(const std::string& why);

// A column for each boot, a row for each step; `boots` must not be empty. The newest boot is on the
// left. Boots that do not fit side by side follow below. A cell is "12.34 +0.41": the seconds since
// the boot began, and since the step before; "12.34 (0.04)" for a load, with the seconds in the
// kernel; "<= 12.34" where the step was reached then or before; "-" where it was not reached.
[[nodiscard]] std::string render_boots(const std::vector<Timeline>& boots, const Style& style);

// Parts that the functions above and the commands share.

enum class Notes { Without, Only };
struct FindingStyle {
  Notes notes = Notes::Without;  // all findings but those of severity info, or only these
  bool commands = false;         // with the `commands` lines
  const std::vector<AdapterHealth>* adapters = nullptr;  // to name adapters by their devices
};
// Errors first. Empty where there are no findings.
[[nodiscard]] std::string render_findings(const std::vector<Finding>& findings,
                                          const FindingStyle& which, const Style& style);
[[nodiscard]] std::string render_adapter(const AdapterHealth& adapter, const Style& style);
// "PID 812 ibv_asyncwatch (rocep19s0f1)", one line each after `indent` spaces; at most `limit`
// holders.
[[nodiscard]] std::string render_holders(const std::vector<Holder>& holders, std::size_t indent,
                                         std::size_t limit);
// "192.168.30.201/24, fe80::1/64"; empty: the netdev has none.
[[nodiscard]] std::string addresses_of(const Netdev& netdev);
// "load module ib_umad": an operation and its target in plain words.
[[nodiscard]] std::string in_words(const Operation& operation);

[[nodiscard]] Colour colour_of(State state);

// The finding to show where there is room for one: the first of the worst severity. Null: none.
[[nodiscard]] const Finding* worst_finding(const Health& health);
// In one line, why the state is not ready.
[[nodiscard]] std::string reason_of(const Health& health);

}  // namespace pvrdma::ctl
