// SPDX-License-Identifier: GPL-2.0-or-later
// JSON for which there is no type of the model's (those agent/codec/json.hpp reads): parameters of
// a refusal, what a helper program writes, and a finding as `doctor` has it. And every JSON,
// printed.
//
// A field that is missing, null or of another type is simply not there. Every string comes back
// printable (agent/ctl/text.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "agent/model/health.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

[[nodiscard]] std::optional<std::string> text(const Json& object, const char* key);
[[nodiscard]] std::optional<bool> flag(const Json& object, const char* key);

// Null where the text is empty.
[[nodiscard]] Json or_null(const std::string& text);

// That of io.pvrdma.Agent, and as `commands` the lines to copy that the finding's entry of the
// catalogue has, with values in place of names; empty where there are none.
[[nodiscard]] Json with_commands(const Finding& finding);

// JSON text in ASCII with every control character escaped; `indent` < 0: on one line.
[[nodiscard]] std::string dumped(const Json& value, int indent = 2);

}  // namespace pvrdma::ctl
