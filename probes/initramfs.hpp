// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the running kernel's initramfs image has the present modprobe.d configuration of
// vmw_pvrdma.
//
// An image contains copies of modprobe.d from the time when it was built, and uses them if it loads
// the driver. No image is read here: images are packed, and in some distributions only root may
// read them. Instead, the hooks of packaging/initramfs-tools and packaging/dracut put a note into
// each image: the configuration of the driver in modprobe.d, or nothing where the image has no
// driver. A boot from that image leaves the note in /run. File times decide only where there is no
// note, as times of files restored from a backup mean little.
#pragma once

#include <string>

#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/model/field.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// The note that a boot from an image with our hook leaves.
inline constexpr const char* kInitramfsNote = "/run/pvrdma-agent.initramfs";

// The image of kernel `release` (uname -r) for the next boot, and the file for which it is too old,
// if any. Absent: no such image, as in a VM that boots without one, or /boot is an automount point
// that is not mounted yet. Unreadable: /boot or modprobe.d may not be read. Costs some calls of
// stat(2) and the reading of modprobe.d.
[[nodiscard]] Field<Initramfs> look_at_initramfs(const Root& root, const std::string& release);

// Opens /boot, the folder of kernels and images, with O_PATH. ENXIO: an automount point that is not
// mounted yet; a look does not mount it, as the repeated looks would keep it mounted for ever.
[[nodiscard]] Result<Fd> open_boot_folder(const Root& root);

// The configuration of the driver in modprobe.d: whole files, in the order of the hooks' note.
// Empty: none.
[[nodiscard]] Result<std::string> driver_configuration(const Root& root);

}  // namespace pvrdma::probes
