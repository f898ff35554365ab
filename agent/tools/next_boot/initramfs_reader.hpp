// Reads an initramfs image: one or more cpio archives one behind the other, the last one compressed
// as a whole (Linux Documentation/driver-api/early-userspace/buffer-format.rst). libarchive unpacks
// them, which only the program initramfs-content links.
#pragma once

#include "agent/base/error.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"

namespace pvrdma::probes {

// `image`: a regular file, open; it stays so. EFBIG: more than 2 GiB unpacked. EBADMSG: not an
// image, or a compression not known here.
[[nodiscard]] Result<InitramfsContent> read_initramfs(int image);

}  // namespace pvrdma::probes
