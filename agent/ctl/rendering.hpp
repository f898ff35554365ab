// Health and Plan as text for an administrator. Pure: values in, text out.
//
// Worst first, and nothing that asks for no attention. Texts end with a newline. ASCII, so that a
// bare console shows it; only names that come from outside may hold other characters, and those are
// made printable here.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::ctl {

// One screen: verdict, what the executor is at, findings, adapters, notes.
[[nodiscard]] std::string render_health(const Health& health, const Style& style);
// A line for each adapter, with a header.
[[nodiscard]] std::string render_status(const Health& health, const Style& style);
// What would be done now, and why; "nothing to do".
[[nodiscard]] std::string render_plan(const Plan& plan, const Style& style);
// 0 nothing to do, 1 actions or warnings, 2 an error among the findings.
[[nodiscard]] int plan_exit_code(const Plan& plan);

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
// "load module ib_umad": a verb of the executor and its target in plain words.
[[nodiscard]] std::string in_words(Verb verb, const std::string& target);

[[nodiscard]] Colour colour_of(State state);

// The finding to name where there is room for one: the first of the worst severity. Null: none.
[[nodiscard]] const Finding* worst_finding(const Health& health);
// In one line, what a state other than ready is waiting for or suffering from.
[[nodiscard]] std::string reason_of(const Health& health);

}  // namespace pvrdma::ctl
