// A tar archive, compressed with zstd, by libarchive.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::ctl::bundle {

struct ArchiveFile {
  std::string name;
  std::string content;
};

// Of files of mode 0600 that are root's, all of this time of modification, below one `folder`. What
// libarchive says where it cannot.
[[nodiscard]] Result<std::string> make_archive(const std::string& folder,
                                               const std::vector<ArchiveFile>& files,
                                               std::time_t time);

}  // namespace pvrdma::ctl::bundle
