// SPDX-License-Identifier: GPL-2.0-or-later
// Bounded reads of small files and directories.
//
// A RootedPath is read without leaving its root (agent/base/rooted_path.hpp); a plain path is given
// to the kernel unchanged. No function reads more than its limit.
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
// Reads from the present offset of the descriptor; `path` is for messages.
[[nodiscard]] Result<std::string> read_file(const Fd& fd, const std::filesystem::path& path,
                                            std::size_t limit_bytes = kReadLimitBytes);

// The content of a sysfs attribute, or of another short file, without trailing white space. Reads
// once, 4096 bytes, as no attribute of sysfs is longer (Documentation/filesystems/sysfs.rst).
[[nodiscard]] Result<std::string> read_attribute(const std::filesystem::path& path);
[[nodiscard]] Result<std::string> read_attribute(const RootedPath& place);

// The PIDs in procfs, ascending. A process that ends meanwhile may still be listed.
[[nodiscard]] Result<std::vector<pid_t>> list_processes(const Root& root);

// Fields of proc_pid_stat(5).
struct ProcessStat {
  std::string name;  // each process can choose its name, which may contain parentheses
  char state = '?';
  unsigned flags = 0;  // PF_…, include/linux/sched.h; a process cannot choose them
};
// EBADMSG: the line has another form.
[[nodiscard]] Result<ProcessStat> process_stat(const Root& root, pid_t pid);

// Names in a directory, sorted; errno of opendir(3) or readdir(3).
[[nodiscard]] Result<std::vector<std::string>> list_directory(const std::filesystem::path& path);
[[nodiscard]] Result<std::vector<std::string>> list_directory(const RootedPath& place,
                                                              const Trust& trust = {});

// The last component of a symbolic link's target ("driver" -> "vmxnet3").
[[nodiscard]] Result<std::string> link_target_name(const std::filesystem::path& path);
[[nodiscard]] Result<std::string> link_target_name(const RootedPath& place);

// stat(2) of the place; lstat(2) with FinalLink::Shown.
enum class FinalLink { Followed, Shown };
[[nodiscard]] Result<struct stat> status_of(const RootedPath& place,
                                            FinalLink final_link = FinalLink::Followed);

// Whether the place exists; the errno of stat(2) where that is not known.
[[nodiscard]] Result<bool> is_there(const RootedPath& place,
                                    FinalLink final_link = FinalLink::Followed);

// The absolute paths below the root that match a pattern of glob(7), in order, at most a thousand.
// Each component of the pattern matches one component of a path. A folder that cannot be listed
// matches nothing.
[[nodiscard]] std::vector<std::string> paths_matching(const Root& root, const std::string& pattern);

// Makes the directory and those above it that are missing. A link to a directory counts as one;
// std::filesystem::create_directories of GCC 10 refuses it.
[[nodiscard]] Result<void> make_directories(const std::filesystem::path& path);

// Writes all of `content`, with as many calls of write(2) as needed; errors name `path`.
[[nodiscard]] Result<void> write_all(int fd, std::string_view content,
                                     const std::filesystem::path& path);

// Writes a hidden file in the same directory and renames it, so a reader sees the old or the new
// content, never a part, also after a power cut. The new file gets exactly `mode`, whatever the
// umask.
[[nodiscard]] Result<void> replace_file(const std::filesystem::path& path, std::string_view content,
                                        unsigned mode = 0644);

// True for ENOENT, ENODEV, ENXIO, ENOTDIR: the object does not exist, as opposed to unreadable.
[[nodiscard]] bool means_absent(const Error& error) noexcept;

}  // namespace pvrdma
