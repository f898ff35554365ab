// SPDX-License-Identifier: GPL-2.0-or-later
// What an initramfs image holds of modules and modprobe.d, by the program initramfs-content: so
// that nobody else links libarchive, and an image that is not one harms nobody. Some distributions
// let only root read their images.
//
// An image is one or more cpio archives one behind the other, the last one compressed as a whole
// (Linux Documentation/driver-api/early-userspace/buffer-format.rst).
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/rooted_path.hpp"

namespace pvrdma::probes {

struct InitramfsContent {
  std::set<std::string> modules;  // with underscores
  std::string configuration;      // as driver_configuration() of a system (probes/initramfs.hpp)
  friend bool operator==(const InitramfsContent&, const InitramfsContent&) = default;
};

// What the program prints: "module NAME" lines, a line "configuration", then that to the end.
[[nodiscard]] std::string print_initramfs_content(const InitramfsContent& content);
[[nodiscard]] Result<InitramfsContent> parse_initramfs_content(std::string_view text);

// `program`: the path of initramfs-content, which gets the image as its input, already open: by
// the path it would follow links out of the root. errno of opening the image; EBADMSG: it is none
// that could be read; ETIMEDOUT.
[[nodiscard]] Result<InitramfsContent> run_initramfs_content(const std::string& program,
                                                             const RootedPath& image,
                                                             Milliseconds timeout);

// How the program itself has it, and nobody else can (initramfs_reader.cpp). `image`: a regular
// file, open; it stays so. EFBIG: more than 2 GiB unpacked. EBADMSG: not an image, or a compression
// not known here.
[[nodiscard]] Result<InitramfsContent> read_initramfs(int image);

}  // namespace pvrdma::probes
