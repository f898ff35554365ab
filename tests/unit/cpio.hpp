// SPDX-License-Identifier: GPL-2.0-or-later
// Initramfs images for tests: cpio archives, plain or compressed, one after the other.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <map>
#include <string>

#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::test {

// `filter`: ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_ZSTD, …
inline std::string cpio(const std::map<std::string, std::string>& files, int filter) {
  const Handle<archive, ::archive_write_free> writing{::archive_write_new()};
  REQUIRE(::archive_write_add_filter(writing.get(), filter) == ARCHIVE_OK);
  REQUIRE(::archive_write_set_format_cpio_newc(writing.get()) == ARCHIVE_OK);
  ::archive_write_set_bytes_in_last_block(writing.get(), 1);
  std::string bytes(1U << 20U, '\0');
  std::size_t used = 0;
  REQUIRE(::archive_write_open_memory(writing.get(), bytes.data(), bytes.size(), &used) ==
          ARCHIVE_OK);
  for (const auto& [path, content] : files) {
    const Handle<archive_entry, ::archive_entry_free> entry{::archive_entry_new()};
    ::archive_entry_set_pathname(entry.get(), path.c_str());
    ::archive_entry_set_filetype(entry.get(), AE_IFREG);
    ::archive_entry_set_perm(entry.get(), 0644);
    ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    REQUIRE(::archive_write_header(writing.get(), entry.get()) == ARCHIVE_OK);
    ::archive_write_data(writing.get(), content.data(), content.size());
  }
  REQUIRE(::archive_write_close(writing.get()) == ARCHIVE_OK);
  bytes.resize(used);
  return bytes;
}

}  // namespace pvrdma::test
