// A mesh's latencies and bandwidths as a picture: one cell for each pair. Pure.
#pragma once

#include <string>

#include "agent/tools/verify/mesh/judgement.hpp"

namespace pvrdma::verify {

// SVG 1.1, without script or any outside resource. Darker is worse; a figure that stands out has a
// red frame, one that is missing is crossed out. Each cell says its figure where it is pointed at.
[[nodiscard]] std::string heat_map(const Mesh& mesh, const Judgement& judgement);

}  // namespace pvrdma::verify
