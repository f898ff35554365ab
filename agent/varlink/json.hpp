// The JSON of the model, as the *.varlink files in this folder declare it: one place for both
// directions, so that the daemon, the executor and the command line cannot disagree.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/model/health.hpp"
#include "agent/model/report.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::varlink {

using Json = nlohmann::json;

// io.pvrdma.Agent. `now` turns times into ages.
[[nodiscard]] Json to_json(const Health& health, BootTime now);
[[nodiscard]] Json to_json(const Plan& plan, BootTime now);
[[nodiscard]] Json to_json(const Finding& finding);
// `boots`: the newest first.
[[nodiscard]] Json to_json(const std::vector<Timeline>& boots);
[[nodiscard]] Json to_json(const Holder& holder);
// At most kHoldersAtMost of them: anybody can hold an adapter by as many processes as he may have,
// and an answer must fit into what a client may be sent (Limits::output_bytes).
[[nodiscard]] Json to_json(const std::vector<Holder>& holders);
inline constexpr std::size_t kHoldersAtMost = 64;

// io.pvrdma.Executor: the parameters of a verb's call, and back. EINVAL names the bad field.
[[nodiscard]] Json to_parameters(const Operation& operation);
[[nodiscard]] Result<Operation> operation_from(Verb verb, const Json& parameters);

// What a verb answers: the interface's Result type.
[[nodiscard]] Json to_json(const Report& report);
[[nodiscard]] Result<Report> report_from(const Json& result);

}  // namespace pvrdma::varlink
