// SPDX-License-Identifier: GPL-2.0-or-later
// Whether udev is done with a netdev.
//
// udev renames an interface while it handles the device's `add`, and a link that is up cannot be
// renamed (EBUSY, before Linux 6.2). So no link is brought up before one of these functions returns
// true. An interface that udev is about to rename is in its database already, with ID_RENAMING,
// until udev has handled the `move` that the rename causes (systemd src/udev/udev-event.c,
// rename_netif(); networkd waits for the same).
#pragma once

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma::probes {

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
