// JSON for which there is no type of the model's (those agent/codec/json.hpp reads): parameters of
// a refusal, and what a helper program writes. And every JSON, printed.
//
// A field that is missing, null or of another type is simply not there. Every string comes back
// printable (agent/ctl/text.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace pvrdma::ctl {

using Json = nlohmann::json;

[[nodiscard]] std::optional<std::string> text(const Json& object, const char* key);
[[nodiscard]] std::optional<bool> flag(const Json& object, const char* key);

// JSON text in ASCII with every control character escaped; `indent` < 0: on one line.
[[nodiscard]] std::string dumped(const Json& value, int indent = 2);

}  // namespace pvrdma::ctl
