// SPDX-License-Identifier: GPL-2.0-or-later
// Replacing and adding files below a root, without leaving it and without touching what others
// than root could exchange meanwhile: folders are opened once, each with its owner checked, and
// all is done in them by file descriptor.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::ctl::moving {

// What the contents of a file of root's alone and its inode say.
struct FileState {
  Fd fd;
  std::string content;
  struct stat status {};
};
// EPERM where others than root can write it or a folder on its way, EINVAL where it is no regular
// file, EMLINK where it has other hard links, which a replacement would part.
[[nodiscard]] Result<FileState> read_state(const RootedPath& place);

// Called with the draft before it takes the file's place; an Error leaves the file as it is.
using Check = std::function<Result<void>(const Fd& draft)>;

// Writes a draft beside the file, gives it owner, mode and extended attributes (ACLs, SELinux's
// label) of the file, and `mtime` where given; syncs it, and renames it over the file. The draft's
// name begins with a dot, which cron and systemd pass over.
[[nodiscard]] Result<void> replace_content(const RootedPath& place, std::string_view content,
                                           const FileState& like, const timespec* mtime,
                                           const Check& check);

// A file of root's in a folder that is there; replaces one of that name.
[[nodiscard]] Result<void> write_file(const RootedPath& place, std::string_view content,
                                      mode_t mode, const timespec* mtime);

// The folder that it is in.
[[nodiscard]] RootedPath above(const RootedPath& place);

// The folder and those above it, where they are missing: open to all to look into whatever the
// umask, as others keep their files in some of them, but for a last one with another `mode`.
[[nodiscard]] Result<void> make_folders(const RootedPath& place, mode_t mode = 0755);

// A file, or with AT_REMOVEDIR an empty folder.
[[nodiscard]] Result<void> remove_entry(const RootedPath& place, int flags = 0);

}  // namespace pvrdma::ctl::moving
