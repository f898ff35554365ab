// SPDX-License-Identifier: GPL-2.0-or-later
// Finds a customization of a fresh clone that is under way: by cloud-init, or by the guest
// customization of open-vm-tools. Both rewrite the network configuration, and may write the
// agent's.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma::probes {

// The stages of cloud-init that matter here: the local stage configures the network, and the
// network stage writes the files of `write_files`. Later stages (runcmd) come after
// multi-user.target, too late for a wait at boot.
struct CloudInitStages {
  bool local_ended = false;
  bool network_ended = false;
  friend bool operator==(const CloudInitStages&, const CloudInitStages&) = default;
};

// /run/cloud-init/status.json (cloudinit/cmd/main.py, status_wrapper()): "v1" has an object for
// each stage, with "finished" null until it has ended. Error: the text has another form.
[[nodiscard]] Result<CloudInitStages> parse_cloud_init_status(std::string_view text);

// A readable name of the customization under way: "cloud-init's network stage". Absent: none.
[[nodiscard]] Field<std::string> customization(const Root& root);

}  // namespace pvrdma::probes
