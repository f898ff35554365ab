// The families of metrics as text: Prometheus' format, and JSON. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agent/tools/metrics/families.hpp"

namespace pvrdma::metrics {

// Text format 0.0.4. A family without samples is left out. No two samples have the same labels,
// whatever the agent answers: a collector takes such a text as a whole for broken.
[[nodiscard]] std::string prometheus_text(const Observation& observation);

// {"metrics": [{"name", "description", "type", "samples": [{"labels", "value"}]}]}, all families.
[[nodiscard]] nlohmann::json to_json(const Observation& observation);

}  // namespace pvrdma::metrics
