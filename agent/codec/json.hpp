// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON of the model, as declared in agent/varlink/*.varlink. Both directions are here, so that
// the daemon, the executor and the command line cannot disagree.
//
// JSON is first checked against the interface. Every text in it is returned printable
// (agent/base/text.hpp), so that no caller can print a raw text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/model/health.hpp"
#include "agent/model/operation_result.hpp"

namespace pvrdma::codec {

using Json = nlohmann::json;

// io.pvrdma.Agent. `now` turns times into ages.
[[nodiscard]] Json to_json(const Health& health, BootTime now);
[[nodiscard]] Json to_json(const Plan& plan, BootTime now);
[[nodiscard]] Json to_json(const Finding& finding);
// At most kHoldersAtMost of them: every user can hold an adapter with many processes, and an answer
// must fit into the output limit of a client (varlink::Limits::output_bytes).
[[nodiscard]] Json to_json(const std::vector<Holder>& holders);
inline constexpr std::size_t kHoldersAtMost = 64;

// From JSON. `now`: when the answer came. EBADMSG names the member that does not fit the interface.
[[nodiscard]] Result<Health> health_from(const Json& health, const Moment& now);
[[nodiscard]] Result<Plan> plan_from(const Json& plan, const Moment& now);
[[nodiscard]] Result<std::vector<Holder>> holders_from(const Json& holders);
// An operation from the two parts that the agent's interface has: verb and target. The other
// members of ConfigureLink stay empty.
[[nodiscard]] Operation operation_on(Verb verb, std::string target);

// io.pvrdma.Executor: the parameters of a call, and back from parameters that are as the interface
// declares them. EINVAL names the invalid parameter.
[[nodiscard]] Json to_parameters(const Operation& operation);
[[nodiscard]] Result<Operation> operation_from(Verb verb, const Json& parameters);

// The answer to a call: the interface's type Result.
[[nodiscard]] Json to_json(const OperationResult& result);
[[nodiscard]] Result<OperationResult> result_from(const Json& result);

}  // namespace pvrdma::codec
