// A mesh's figures for a person, a program and a spreadsheet. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agent/ctl/text.hpp"
#include "agent/tools/verify/mesh/judgement.hpp"

namespace pvrdma::verify {

// What stands out first; of up to twelve machines also a table of latencies and bandwidths.
[[nodiscard]] std::string render(const Mesh& mesh, const Judgement& judgement,
                                 const ctl::Style& style);
// Matrices by machine; null where there is no figure.
[[nodiscard]] nlohmann::json to_json(const Mesh& mesh, const Judgement& judgement);
// A line for each pair (RFC 4180).
[[nodiscard]] std::string to_csv(const Mesh& mesh, const Judgement& judgement);

}  // namespace pvrdma::verify
