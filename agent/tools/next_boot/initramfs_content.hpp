// SPDX-License-Identifier: GPL-2.0-or-later
// The modules and the modprobe.d of an initramfs image, as the program initramfs-content reads
// them: no other program links libarchive, and a hostile image can harm only that one. Some
// distributions let only root read their images.
//
// An image consists of cpio archives one after the other; the last one is compressed as a whole
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
  std::string configuration;      // in the form of driver_configuration() (probes/initramfs.hpp)
  friend bool operator==(const InitramfsContent&, const InitramfsContent&) = default;
};

// The program's output: lines "module NAME", a line "configuration", then the configuration.
[[nodiscard]] std::string print_initramfs_content(const InitramfsContent& content);
[[nodiscard]] Result<InitramfsContent> parse_initramfs_content(std::string_view text);

// `program`: the path of initramfs-content. It gets the image as its input, already open: by path
// it would follow links out of the root. Errors: those of opening the image, of run_program() and
// of output_of(), as for a file that is no image; EBADMSG: the output has another form.
[[nodiscard]] Result<InitramfsContent> run_initramfs_content(const std::string& program,
                                                             const RootedPath& image,
                                                             Milliseconds timeout);

// Reads the image; only the program itself links this (initramfs_reader.cpp). `image`: a regular
// file, open; it stays open. EFBIG: more than 2 GiB unpacked. EBADMSG: not an image, or its
// compression is not known here.
[[nodiscard]] Result<InitramfsContent> read_initramfs(int image);

}  // namespace pvrdma::probes
