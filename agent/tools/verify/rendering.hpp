// The self-test's reports, for people and for programs. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/tools/verify/report.hpp"

namespace pvrdma::ctl::selftest {

// A line with the verdict, and what was seen, indented.
[[nodiscard]] std::string render(const Report& report, const Style& style);
[[nodiscard]] nlohmann::json to_json(const std::vector<Report>& reports);

}  // namespace pvrdma::ctl::selftest
