// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces and adds files below a root. Nothing outside of the root is touched, and nothing that
// other users could exchange meanwhile: each folder is opened once, its owner is checked, and all
// work in it goes by file descriptor.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::ctl::migration {

// The contents and the inode of a file that only root can write.
struct FileState {
  Fd fd;
  std::string content;
  struct stat status {};
};
// EPERM: others than root can write the file or a folder on its way; EINVAL: it is no regular file;
// EMLINK: it has other hard links, which a replacement would part.
[[nodiscard]] Result<FileState> read_state(const RootedPath& place);

// Called with the draft before the draft replaces the file; an Error leaves the file as it is.
using Check = std::function<Result<void>(const Fd& draft)>;

// Writes a draft next to the file, gives the draft the file's owner, mode and extended attributes
// (ACLs, SELinux's label), and `mtime` where given; syncs the draft, and renames it over the file.
// The draft's name begins with a dot: cron and systemd pass over such names.
[[nodiscard]] Result<void> replace_content(const RootedPath& place, std::string_view content,
                                           const FileState& like, const timespec* mtime,
                                           const Check& check);

// Writes a file of root's into an existing folder; replaces a file of that name.
[[nodiscard]] Result<void> write_file(const RootedPath& place, std::string_view content,
                                      mode_t mode, const timespec* mtime);

// The folder that contains the place.
[[nodiscard]] RootedPath above(const RootedPath& place);

// Makes the folder, and the missing folders above it. Whatever the umask, everyone may look into
// them, as other programs keep files there; only the last folder may have another `mode`.
[[nodiscard]] Result<void> make_folders(const RootedPath& place, mode_t mode = 0755);

// Removes a file, or with AT_REMOVEDIR an empty folder.
[[nodiscard]] Result<void> remove_entry(const RootedPath& place, int flags = 0);

}  // namespace pvrdma::ctl::migration
