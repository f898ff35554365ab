// Files for the report, which root collects and hands on to others: only regular ones, and only
// such as lie where they belong.
#pragma once

#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma::ctl::bundle {

struct FileContent {
  std::string content;
  bool truncated = false;  // it is longer than the limit
};

// A link is followed as long as what it ends at lies below /etc, /run, /usr or /lib; ELOOP where it
// does not, EINVAL for what is no regular file (it is not opened for reading then), else errno.
[[nodiscard]] Result<FileContent> read_known_file(const Root& root, const std::string& path,
                                                  std::size_t limit_bytes);

// Itself where `path` is a file; the paths of a directory's entries that end with one of `endings`,
// sorted; nothing where there is neither.
[[nodiscard]] Result<std::vector<std::string>> list_files(const Root& root, const std::string& path,
                                                          const std::vector<std::string>& endings);

}  // namespace pvrdma::ctl::bundle
