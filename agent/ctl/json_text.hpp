// SPDX-License-Identifier: GPL-2.0-or-later
// JSON without a type in the model (agent/codec/json.hpp reads the others): the parameters of a
// refusal, the output of a helper program, a finding of `doctor`. Also prints any JSON.
//
// A field that is null or of another type counts as missing. Every string is returned printable
// (agent/base/text.hpp).
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

// The finding as in io.pvrdma.Agent, with the member `commands`: the lines to copy from the
// catalogue, with values in place of names; empty where there are none.
[[nodiscard]] Json with_commands(const Finding& finding);

// JSON text in ASCII with every control character escaped; `indent` < 0: on one line.
[[nodiscard]] std::string dumped(const Json& value, int indent = 2);

}  // namespace pvrdma::ctl
