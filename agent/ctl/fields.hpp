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
// Whether the field is there and null: the agent looked, and there was nothing.
[[nodiscard]] bool is_null(const Json& object, const char* key);

// Whether `name` ("rdma_device", "port.state") is among what could not be read of an adapter, whose
// entries look like "port.state: reading /sys/…: Permission denied".
[[nodiscard]] bool is_unreadable(const Json& adapter, const std::string& name);

// A field that is an object or an array; an empty one where it is not. The result lives as long as
// `object`, or for ever.
[[nodiscard]] const Json& object_of(const Json& object, const char* key);
[[nodiscard]] const Json& list_of(const Json& object, const char* key);

// "state" of a health or an adapter, "unknown" where it has none.
[[nodiscard]] std::string state_of(const Json& object);
// The exit code that goes with the state of a health object: 3 for one this program does not know.
[[nodiscard]] int exit_code_of(const Json& health);

// JSON text in ASCII with every control character escaped; `indent` < 0: on one line.
[[nodiscard]] std::string dumped(const Json& value, int indent = 2);

}  // namespace pvrdma::ctl
