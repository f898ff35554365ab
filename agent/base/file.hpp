// SPDX-License-Identifier: GPL-2.0-or-later
// Bounded reads of small files and directories.
//
// A RootedPath is read without leaving its root (agent/base/rooted_path.hpp); a plain path goes to
// the kernel as it is. Nothing reads more than its limit.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/rooted_path.hpp"

namespace pvrdma {

inline constexpr std::size_t kReadLimitBytes = 1U << 20U;

// The whole content; EFBIG where it is longer than `limit_bytes`. errno of open(2) or read(2).
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t limit_bytes = kReadLimitBytes);
[[nodiscard]] Result<std::string> read_file(const RootedPath& place,
                                            std::size_t limit_bytes = kReadLimitBytes,
                                            const Trust& trust = {});
// From where the descriptor stands; `path` is for messages.
[[nodiscard]] Result<std::string> read_file(const Fd& fd, const std::filesystem::path& path,
                                            std::size_t limit_bytes = kReadLimitBytes);

// The content without trailing white space of a sysfs attribute, or of a file as short: what one
// read of 4096 bytes gives, as sysfs has no more (Documentation/filesystems/sysfs.rst).
[[nodiscard]] Result<std::string> read_attribute(const std::filesystem::path& path);
[[nodiscard]] Result<std::string> read_attribute(const RootedPath& place);

// Processes by what procfs names them, ascending; those that end meanwhile are listed all the same.
[[nodiscard]] Result<std::vector<pid_t>> list_processes(const Root& root);

// Of proc_pid_stat(5).
struct ProcessStat {
  std::string name;  // anybody may choose his own, with parentheses too
  char state = '?';
  unsigned flags = 0;  // PF_…, include/linux/sched.h: what a process cannot choose
};
// EBADMSG: that is no such line.
[[nodiscard]] Result<ProcessStat> process_stat(const Root& root, pid_t pid);

// Names in a directory, sorted; errno of opendir(3) or readdir(3).
[[nodiscard]] Result<std::vector<std::string>> list_directory(const std::filesystem::path& path);
[[nodiscard]] Result<std::vector<std::string>> list_directory(const RootedPath& place,
                                                              const Trust& trust = {});

// The last component of what a symbolic link points to ("driver" -> "vmxnet3").
[[nodiscard]] Result<std::string> link_target_name(const std::filesystem::path& path);
[[nodiscard]] Result<std::string> link_target_name(const RootedPath& place);

// stat(2), and lstat(2) with `final_link` set: what the place is.
enum class FinalLink { Followed, Shown };
[[nodiscard]] Result<struct stat> status_of(const RootedPath& place,
                                            FinalLink final_link = FinalLink::Followed);

// Whether the place is there; errno of asking where that is not known.
[[nodiscard]] Result<bool> is_there(const RootedPath& place,
                                    FinalLink final_link = FinalLink::Followed);

// The absolute paths below the root that a pattern of glob(7) matches, each component by itself, in
// order, and no more than a thousand. What cannot be listed matches nothing.
[[nodiscard]] std::vector<std::string> paths_matching(const Root& root, const std::string& pattern);

// All of it, however often write(2) takes a part; errors name `path`.
[[nodiscard]] Result<void> write_all(int fd, std::string_view content,
                                     const std::filesystem::path& path);

// Replaces a file by way of a hidden one in the same directory, so a reader sees the old content
// or the new, never half of it, also after a power cut. `mode` is given to a new file exactly,
// whatever the umask.
[[nodiscard]] Result<void> replace_file(const std::filesystem::path& path, std::string_view content,
                                        unsigned mode = 0644);

// True for ENOENT, ENODEV, ENXIO, ENOTDIR: the thing is not there, as opposed to not readable.
[[nodiscard]] bool means_absent(const Error& error) noexcept;

}  // namespace pvrdma
