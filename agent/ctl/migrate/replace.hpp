// Replacing a file of the system's by one that differs in its contents alone.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include <string>
#include <string_view>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma::ctl::moving {

// What the contents of a regular file and its inode say; EINVAL where it is no regular file, EMLINK
// where it has other hard links, which a replacement would part.
struct FileState {
  std::string content;
  struct stat status {};
};
[[nodiscard]] Result<FileState> read_state(const std::filesystem::path& path);

// Called with the draft before it takes the file's place; an Error leaves the file as it is.
using Check = std::function<Result<void>(const std::filesystem::path& draft)>;

// Writes a draft beside the file, gives it owner, mode and extended attributes (ACLs, SELinux's
// label) of the file, and `mtime` where given; syncs it, and renames it over the file. The draft's
// name begins with a dot, which cron and systemd pass over.
[[nodiscard]] Result<void> replace_content(const std::filesystem::path& path,
                                           std::string_view content, const struct stat& like,
                                           const timespec* mtime, const Check& check);

}  // namespace pvrdma::ctl::moving
