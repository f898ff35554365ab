// SPDX-License-Identifier: GPL-2.0-or-later
// Findings about the surroundings in which applications use an adapter. Pure: a Snapshot and a
// Survey in, findings of the catalogue out.
#pragma once

#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::doctor {

[[nodiscard]] std::vector<Finding> surroundings(const Config& config, const Snapshot& snapshot,
                                                const Survey& survey);

// other_subnets.cpp: adds same-subnet for an adapter and an interface that is no adapter's. The
// agent looks at adapters alone, and compares these.
void check_other_subnets(const Snapshot& snapshot, const std::vector<NamedAddress>& addresses,
                         std::vector<Finding>& findings);

// link_profiles.cpp: adds link-profile for files that configure no link, and for several profiles
// of one link.
void check_profiles(const Survey& survey, std::vector<Finding>& findings);

// The nodes of /dev/infiniband that applications need: "uverbs0" of each adapter, and "rdma_cm".
[[nodiscard]] std::vector<std::string> needed_nodes(const Snapshot& snapshot);

// The node with that name; null: there is none.
[[nodiscard]] const DeviceNode* find_node(const Survey& survey, const std::string& name);

}  // namespace pvrdma::doctor
