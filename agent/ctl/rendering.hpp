// SPDX-License-Identifier: GPL-2.0-or-later
// Health, Plan and Timelines as text for an administrator. Pure: values in, text out.
//
// Worst first, and nothing that asks for no attention. Texts end with a newline. ASCII, so that a
// bare console shows it; only names that come from outside may hold other characters, and those are
// made printable here.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::ctl {

// One screen: verdict, what the executor is at, findings, adapters, notes.
[[nodiscard]] std::string render_health(const Health& health, const Style& style);
// A line for each adapter, with a header; where the state is unknown, why the lines may be wrong.
[[nodiscard]] std::string render_status(const Health& health, const Style& style);
// What would be done now, and why; "nothing to do".
[[nodiscard]] std::string render_plan(const Plan& plan, const Style& style);
// 0 nothing to do, 1 actions or warnings, 2 an error among the findings.
[[nodiscard]] int plan_exit_code(const Plan& plan);

// What differs between two health objects, one line each: "state: converging -> ready: 1 of 1
// adapters ready", "0000:13:00.1 port: DOWN -> ACTIVE", "finding driver-in-use (warning): …",
// "finding driver-in-use: gone". `before` may be null: then everything is new. Empty where nothing
// changed but ages.
[[nodiscard]] std::vector<std::string> changes(const Health* before, const Health& after);

// What a monitor of the Nagios family (Icinga, Naemon, Checkmk's MRPE) wants of a check: one line
// of text, then "|" and numbers to draw ("Nagios Plugins Development Guidelines",
// monitoring-plugins.org), as "PVRDMA OK - 2 of 2 adapters ready | adapters=2;;;0 ready=2;2:;1:;0;2
// reloads=0c …", with a newline.
[[nodiscard]] std::string plugin_line(const Health& health, BootTime now);
// The same where nobody answered: status 3, unknown.
[[nodiscard]] std::string plugin_line(const std::string& why);

// A column for each boot, a row for each step; there is one boot at least. The newest is on the
// left. As many as fit stand side by side, the others below. A cell is "12.34 +0.41": the seconds
// since the boot began, and since the step before; "12.34 (0.04)" of a load, with the seconds in
// the kernel; "<= 12.34" where it was reached then or before; "-" where it was not.
[[nodiscard]] std::string render_boots(const std::vector<Timeline>& boots, const Style& style);

// Parts that the above and the commands share.

enum class Notes { Without, Only };
struct FindingStyle {
  Notes notes = Notes::Without;                          // all but severity info, or only these
  bool commands = false;                                 // with the lines to copy
  const std::vector<AdapterHealth>* adapters = nullptr;  // to name those by their devices
};
// Errors first. Empty where there is none.
[[nodiscard]] std::string render_findings(const std::vector<Finding>& findings,
                                          const FindingStyle& which, const Style& style);
// A block of rows for one adapter.
[[nodiscard]] std::string render_adapter(const AdapterHealth& adapter, const Style& style);
// "PID 812 ibv_asyncwatch (rocep19s0f1)", a line each after `indent` spaces; at most `limit`.
[[nodiscard]] std::string render_holders(const std::vector<Holder>& holders, std::size_t indent,
                                         std::size_t limit);
// "192.168.30.201/24, fe80::1/64"; empty: it has none.
[[nodiscard]] std::string addresses_of(const Netdev& netdev);
// "load module ib_umad": a verb of the executor and its target in plain words.
[[nodiscard]] std::string in_words(Verb verb, const std::string& target);

[[nodiscard]] Colour colour_of(State state);

// The finding to name where there is room for one: the first of the worst severity. Null: none.
[[nodiscard]] const Finding* worst_finding(const Health& health);
// In one line, what a state other than ready is waiting for or suffering from.
[[nodiscard]] std::string reason_of(const Health& health);

}  // namespace pvrdma::ctl
