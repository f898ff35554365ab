// What pvrdma-agentctl's own commands answer with --json. Each runs as a process of its own with
// bounds, so that one that hangs, in the kernel as well, costs its time and no other part.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

struct Part {
  const char* name;                // in the report: "next_boot"
  std::vector<std::string> words;  // the command: "doctor", "--next-boot"
};
[[nodiscard]] const std::vector<Part>& parts();

inline constexpr std::size_t kPartBytesAtMost = std::size_t{1} << 20U;
inline constexpr int kPartDepthAtMost = 32;  // of objects and arrays in each other

// What the program answers: its output must hold one JSON object, which begins and ends on lines of
// their own as dumped() has it; other lines, such as complaints, are passed over. An Error says how
// it ended, and its first complaint.
[[nodiscard]] Result<Json> run_part(const std::vector<std::string>& words, Milliseconds limit);

}  // namespace pvrdma::ctl
