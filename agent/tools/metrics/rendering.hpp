// SPDX-License-Identifier: GPL-2.0-or-later
// The families of metrics as Prometheus' text, as JSON, and in the form of io.systemd.Metrics.
// Pure.
//
// No two samples of a family have the same labels, whatever the agent answers: a collector rejects
// a whole text that has such samples.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/tools/metrics/families.hpp"

namespace pvrdma::metrics {

// Text format 0.0.4. A family without samples is left out.
[[nodiscard]] std::string prometheus_text(const Observation& observation);

// {"metrics": [{"name", "description", "type", "samples": [{"labels", "value"}]}]}, with all
// families.
[[nodiscard]] nlohmann::json to_json(const Observation& observation);

// The name of the socket. Each name begins with it: systemd-report leaves out any other.
// "io.pvrdma.Agent.port_state_id" is Prometheus' "pvrdma_port_state_id".
inline constexpr const char* kReportName = "io.pvrdma.Agent";
// The parameters of each reply to io.systemd.Metrics.List, and to Describe. A sample's function is
// its object; its other labels are its fields.
[[nodiscard]] std::vector<nlohmann::json> report_samples(const Observation& observation);
[[nodiscard]] std::vector<nlohmann::json> report_families();

}  // namespace pvrdma::metrics
