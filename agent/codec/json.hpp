// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON of the model, as agent/varlink/*.varlink declare it: one place for both directions, so
// that the daemon, the executor and the command line cannot disagree.
//
// What is read is held against the interface first. Every text in it comes back printable
// (agent/base/text.hpp), so that nothing that shows it can print a raw one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/model/health.hpp"
#include "agent/model/report.hpp"

namespace pvrdma::codec {

using Json = nlohmann::json;

// io.pvrdma.Agent. `now` turns times into ages.
[[nodiscard]] Json to_json(const Health& health, BootTime now);
[[nodiscard]] Json to_json(const Plan& plan, BootTime now);
[[nodiscard]] Json to_json(const Finding& finding);
// At most kHoldersAtMost of them: anybody can hold an adapter by as many processes as he may have,
// and an answer must fit into what a client may be sent (Limits::output_bytes).
[[nodiscard]] Json to_json(const std::vector<Holder>& holders);
inline constexpr std::size_t kHoldersAtMost = 64;

// And back. `now`: when the answer came. EBADMSG names the member that is not as declared.
[[nodiscard]] Result<Health> health_from(const Json& health, const Moment& now);
[[nodiscard]] Result<Plan> plan_from(const Json& plan, const Moment& now);
[[nodiscard]] Result<std::vector<Holder>> holders_from(const Json& holders);
// What the interface of the agent has of an operation: its verb and its target. The rest of
// ConfigureLink is not there.
[[nodiscard]] Operation operation_on(Verb verb, std::string target);

// io.pvrdma.Executor: the parameters of a verb's call, and back. EINVAL names the bad field.
[[nodiscard]] Json to_parameters(const Operation& operation);
[[nodiscard]] Result<Operation> operation_from(Verb verb, const Json& parameters);

// What a verb answers: the interface's Result type.
[[nodiscard]] Json to_json(const Report& report);
[[nodiscard]] Result<Report> report_from(const Json& result);

}  // namespace pvrdma::codec
