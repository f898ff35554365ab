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

// Whether udev is done with a netdev.
//
// udev renames an interface while it handles the device's `add`, and a link that is up cannot be
// renamed (EBUSY, before Linux 6.2). So no link is brought up before one of these functions returns
// true. An interface that udev is about to rename is in its database already, with ID_RENAMING,
// until udev has handled the `move` that the rename causes (systemd src/udev/udev-event.c,
// rename_netif(); networkd waits for the same).

// True where udev has finished with the interface, or no udevd runs (no /run/udev/control, as in a
// container). Absent: no such interface. libudev reads the database of this machine whatever `root`
// is; only the control socket is below `root`.
[[nodiscard]] Field<bool> udev_settled(const Root& root, int interface_index);

// Whether the netdev with this folder in sysfs was renamed since its registration:
// name_assign_type, Linux 3.17. udev renames once, after all its other settings of a link and
// before it runs the programs of its rules; it reports that it has finished only after these
// programs have ended.
[[nodiscard]] bool was_renamed(const RootedPath& netdev);

}  // namespace pvrdma::probes
