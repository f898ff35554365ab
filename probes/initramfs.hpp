// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the running kernel's initramfs image knows what modprobe.d says about vmw_pvrdma.
//
// An image keeps copies of modprobe.d as it was when the image was built; one that loads the driver
// goes by those. Nothing here reads an image: they are for root only in some distributions, and
// packed. The hooks of packaging/initramfs-tools and packaging/dracut note in each image what
// modprobe.d said of the driver when it was built, or nothing where the driver is not in it, and a
// boot from that image leaves the note in /run. Times decide only about what no note tells, as
// those of files unpacked from a backup mean little.
#pragma once

#include <string>

#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/model/field.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// What a boot from an image with our hook leaves behind.
inline constexpr const char* kInitramfsNote = "/run/pvrdma-agent.initramfs";

// The image of kernel `release` (uname -r) that the next boot starts from, and the configuration it
// is too old for, if any. Absent: no such image, as in a VM that boots without, or /boot is an
// automount point that nobody has used yet. Unreadable: /boot or modprobe.d may not be looked at.
// Costs some stat(2) and the reading of modprobe.d.
[[nodiscard]] Field<Initramfs> look_at_initramfs(const Root& root, const std::string& release);

// /boot, where kernels and images lie, opened with O_PATH. ENXIO: an automount point that nobody
// has used yet; a look does not mount it, as that would keep it mounted for ever.
[[nodiscard]] Result<Fd> open_boot_folder(const Root& root);

// All that modprobe.d says about the driver: whole files, in the order in which the hooks note
// them. Empty: nothing.
[[nodiscard]] Result<std::string> driver_configuration(const Root& root);

}  // namespace pvrdma::probes
