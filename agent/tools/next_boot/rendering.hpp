// A NextBoot as JSON and as text. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agent/ctl/text.hpp"
#include "agent/tools/next_boot/forecast.hpp"
#include "agent/tools/next_boot/judge.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

[[nodiscard]] Json to_json(const NextBoot& outcome, const Field<NextKernel>& next);

// A block for each kernel, one for the machine, then the findings.
[[nodiscard]] std::string render_next_boot(const NextBoot& outcome, const Field<NextKernel>& next,
                                           const Style& style);

}  // namespace pvrdma::ctl
