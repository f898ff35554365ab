// Reading the JSON of io.pvrdma.Agent for printing, whatever version of the daemon wrote it.
//
// A field that is missing, null or of another type is simply not there. Every string comes back
// printable (agent/ctl/text.hpp), so that no rendering can print a raw one.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pvrdma::ctl {

using Json = nlohmann::json;

[[nodiscard]] std::optional<std::string> text(const Json& object, const char* key);
[[nodiscard]] std::optional<std::int64_t> number(const Json& object, const char* key);
[[nodiscard]] std::optional<bool> flag(const Json& object, const char* key);
[[nodiscard]] std::vector<std::string> texts(const Json& object, const char* key);

// A field that is an object or an array; an empty one where it is not. The result lives as long as
// `object`, or for ever.
[[nodiscard]] const Json& object_of(const Json& object, const char* key);
[[nodiscard]] const Json& list_of(const Json& object, const char* key);

// JSON text in ASCII with every control character escaped; `indent` < 0: on one line.
[[nodiscard]] std::string dumped(const Json& value, int indent = 2);

}  // namespace pvrdma::ctl
