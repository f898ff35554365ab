// SPDX-License-Identifier: GPL-2.0-or-later
// Files recorded on a machine (tests/fixtures/next-boot), unpacked into a Tree.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>

#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::test {

inline void unpack(const std::string& archive_path, const Tree& tree) {
  const Handle<archive, ::archive_read_free> reading{::archive_read_new()};
  ::archive_read_support_filter_xz(reading.get());
  ::archive_read_support_format_tar(reading.get());
  REQUIRE(::archive_read_open_filename(reading.get(), archive_path.c_str(), 1U << 16U) ==
          ARCHIVE_OK);
  archive_entry* entry = nullptr;
  while (::archive_read_next_header(reading.get(), &entry) == ARCHIVE_OK) {
    const std::string path = std::string{"/"} + ::archive_entry_pathname(entry);
    if (::archive_entry_filetype(entry) == AE_IFDIR) {
      tree.directory(path);
    } else if (::archive_entry_filetype(entry) == AE_IFLNK) {
      tree.link(path, ::archive_entry_symlink(entry));
    } else {
      std::string content(static_cast<std::size_t>(::archive_entry_size(entry)), '\0');
      REQUIRE(::archive_read_data(reading.get(), content.data(), content.size()) ==
              static_cast<la_ssize_t>(content.size()));
      tree.file(path, content);
    }
  }
}

}  // namespace pvrdma::test
