// The JSON of io.pvrdma.Agent as text for an administrator. Pure: Json in, text out.
//
// Worst first, and nothing that asks for no attention. Texts end with a newline. ASCII, so that a
// bare console shows it; only names that come from outside may hold other characters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agent/ctl/text.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

// One screen: verdict, what the executor is at, findings, adapters, notes.
[[nodiscard]] std::string render_health(const Json& health, const Style& style);
// A line for each adapter, with a header.
[[nodiscard]] std::string render_status(const Json& health, const Style& style);
// What would be done now, and why; "nothing to do".
[[nodiscard]] std::string render_plan(const Json& plan, const Style& style);
// 0 nothing to do, 1 actions or warnings, 2 an error among the findings.
[[nodiscard]] int plan_exit_code(const Json& plan);

// Parts that the above and the commands share.

enum class Notes { Without, Only };
// The findings of a health or a plan, errors first: either without those of severity info, or only
// these. Empty where there is none.
[[nodiscard]] std::string render_findings(const Json& health, Notes notes, const Style& style);
// A block of rows for one adapter.
[[nodiscard]] std::string render_adapter(const Json& adapter, const Style& style);
// "PID 812 ibv_asyncwatch (rocep19s0f1)", a line each after `indent` spaces; at most `limit`.
[[nodiscard]] std::string render_holders(const Json& holders, std::size_t indent,
                                         std::size_t limit);
// "load module ib_umad": a verb of the executor and its target in plain words.
[[nodiscard]] std::string in_words(const std::string& verb, const std::string& target);

[[nodiscard]] Colour colour_of_state(const std::string& state);
// 0 for the worst. States order adapters, severities order findings.
[[nodiscard]] int rank_of_state(const std::string& state);
[[nodiscard]] int rank_of_severity(const std::string& severity);

// The finding to name where there is room for one: the first of the worst severity. Null: none.
[[nodiscard]] const Json* worst_finding(const Json& health);
// In one line, what a state other than ready is waiting for or suffering from.
[[nodiscard]] std::string reason_of(const Json& health);

}  // namespace pvrdma::ctl
