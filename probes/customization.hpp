// SPDX-License-Identifier: GPL-2.0-or-later
// What is still making a fresh clone the machine it is to be: cloud-init, or the guest
// customization of open-vm-tools. Both rewrite network configuration, and may write ours.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma::probes {

// The stages of cloud-init that count here: the local one configures the network, the network one
// has written what `write_files` names when it ends. Later ones (runcmd) come after
// multi-user.target, too late to be waited for at boot.
struct CloudInitStages {
  bool local_ended = false;
  bool network_ended = false;
  friend bool operator==(const CloudInitStages&, const CloudInitStages&) = default;
};

// /run/cloud-init/status.json (cloudinit/cmd/main.py, status_wrapper()): "v1" has an object for
// each stage, with "finished" null until it has ended. An Error where it is something else.
[[nodiscard]] Result<CloudInitStages> parse_cloud_init_status(std::string_view text);

// What is waited for, for a person: "cloud-init's network stage". Absent: nothing.
[[nodiscard]] Field<std::string> customization(const Root& root);

}  // namespace pvrdma::probes
