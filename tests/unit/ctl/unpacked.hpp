// A report's archive, read back by libarchive.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <map>
#include <string>

#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::test {

// Files by what the archive calls them, read back by libarchive; the folder's name is taken off.
inline std::map<std::string, std::string> unpacked(const std::string& bytes,
                                                   std::string* folder = nullptr) {
  const Handle<archive, ::archive_read_free> reading{::archive_read_new()};
  ::archive_read_support_filter_zstd(reading.get());
  ::archive_read_support_format_tar(reading.get());
  REQUIRE(::archive_read_open_memory(reading.get(), bytes.data(), bytes.size()) == ARCHIVE_OK);
  std::map<std::string, std::string> files;
  archive_entry* entry = nullptr;
  while (::archive_read_next_header(reading.get(), &entry) == ARCHIVE_OK) {
    const std::string path = ::archive_entry_pathname(entry);
    std::string content(static_cast<std::size_t>(::archive_entry_size(entry)), '\0');
    REQUIRE(::archive_read_data(reading.get(), content.data(), content.size()) ==
            static_cast<la_ssize_t>(content.size()));
    CHECK((::archive_entry_mode(entry) & 07777U) == 0600);
    if (folder != nullptr) *folder = path.substr(0, path.find('/'));
    CHECK(files.try_emplace(path.substr(path.find('/') + 1), content).second);
  }
  return files;
}

}  // namespace pvrdma::test
