// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/migrate/replace.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "agent/base/text.hpp"

namespace pvrdma::ctl::migration {

namespace {

constexpr std::size_t kLimitBytes = 256U << 10U;

// A file system without extended attributes has nothing to copy.
Result<void> copy_attributes(const Fd& from, const Fd& to, const RootedPath& place) {
  std::array<char, 4096> names{};
  const ssize_t length = ::flistxattr(from.get(), names.data(), names.size());
  if (length < 0 && errno == ENOTSUP) return {};
  if (length < 0) return fail(errno, "listing the attributes of", place);
  for (std::string_view rest{names.data(), static_cast<std::size_t>(length)}; !rest.empty();) {
    const std::string name{cut(rest, '\0')};
    std::array<char, 4096> value{};
    const ssize_t size = ::fgetxattr(from.get(), name.c_str(), value.data(), value.size());
    if (size < 0) return fail(errno, "reading the attribute " + name + " of", place);
    if (::fsetxattr(to.get(), name.c_str(), value.data(), static_cast<std::size_t>(size), 0) != 0)
      return fail(errno, "copying the attribute " + name + " of", place);
  }
  return {};
}

Result<void> dress(const Fd& draft, const RootedPath& place, const FileState& like) {
  if (::fchown(draft.get(), like.status.st_uid, like.status.st_gid) != 0)
    return fail(errno, "giving its owner to the new", place);
  if (::fchmod(draft.get(), like.status.st_mode & 07777U) != 0)
    return fail(errno, "giving its mode to the new", place);
  return copy_attributes(like.fd, draft, place);
}

Result<void> give_time(const Fd& draft, const timespec& mtime, const RootedPath& place) {
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, mtime};
  if (::futimens(draft.get(), times.data()) != 0)
    return fail(errno, "giving its time to the new", place);
  return {};
}

// An O_PATH descriptor cannot be synced, so the folder is opened again.
Result<void> sync_folder(const Parent& parent, const RootedPath& place) {
  const Fd folder{::openat(parent.folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder || ::fsync(folder.get()) != 0) return fail(errno, "syncing the folder of", place);
  return {};
}

Result<void> rename_draft(const Parent& parent, const std::string& draft, const Fd& fd,
                          std::string_view content, const Check& finish, const RootedPath& place) {
  if (auto written = write_all(fd.get(), content, place); !written) return written;
  if (auto finished = finish(fd); !finished) return finished;
  if (::fsync(fd.get()) != 0) return fail(errno, "syncing the new", place);
  if (::renameat(parent.folder.get(), draft.c_str(), parent.folder.get(), parent.name.c_str()) != 0)
    return fail(errno, "replacing", place);
  return sync_folder(parent, place);
}

// A killed process may have left a draft: it is removed first.
Result<void> replace_by_draft(const RootedPath& place, std::string_view content,
                              const Check& finish) {
  const auto parent = open_rooted_parent(place, kTrustedLinks);
  if (!parent) return fail(parent.error());
  const std::string draft = "." + parent->name + ".pvrdma-agent";
  ::unlinkat(parent->folder.get(), draft.c_str(), 0);
  const Fd fd{::openat(parent->folder.get(), draft.c_str(),
                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd) return fail(errno, "creating a draft of", place);
  auto replaced = rename_draft(*parent, draft, fd, content, finish, place);
  if (!replaced) ::unlinkat(parent->folder.get(), draft.c_str(), 0);
  return replaced;
}

}  // namespace

Result<FileState> read_state(const RootedPath& place) {
  auto fd = open_rooted(place, O_RDONLY, kTrustedLinks);
  if (!fd) return fail(std::move(fd.error()));
  FileState state{std::move(*fd), {}, {}};
  if (::fstat(state.fd.get(), &state.status) != 0) return fail(errno, "looking at", place);
  if (!S_ISREG(state.status.st_mode)) return fail(EINVAL, "looking for a regular file at", place);
  if (state.status.st_nlink > 1) return fail(EMLINK, "looking at the names of", place);
  auto content = read_file(state.fd, place, kLimitBytes);
  if (!content) return fail(content.error());
  state.content = std::move(*content);
  return state;
}

Result<void> replace_content(const RootedPath& place, std::string_view content,
                             const FileState& like, const timespec* mtime, const Check& check) {
  return replace_by_draft(place, content, [&](const Fd& draft) -> Result<void> {
    if (auto dressed = dress(draft, place, like); !dressed) return dressed;
    if (mtime != nullptr)
      if (auto given = give_time(draft, *mtime, place); !given) return given;
    return check ? check(draft) : Result<void>{};
  });
}

Result<void> write_file(const RootedPath& place, std::string_view content, mode_t mode,
                        const timespec* mtime) {
  return replace_by_draft(place, content, [&](const Fd& draft) -> Result<void> {
    if (::fchmod(draft.get(), mode) != 0) return fail(errno, "giving its mode to the new", place);
    return mtime != nullptr ? give_time(draft, *mtime, place) : Result<void>{};
  });
}

RootedPath above(const RootedPath& place) {
  return {place.root(), place.below().parent_path().string()};
}

Result<void> make_folders(const RootedPath& place, mode_t mode) {
  const auto there = open_rooted(place, O_RDONLY | O_DIRECTORY, kTrustedLinks);
  if (there && mode == 0755) return {};
  if (!there) {
    if (there.error().code != ENOENT) return fail(there.error());
    if (auto made = make_folders(above(place)); !made) return made;
    const auto parent = open_rooted_parent(place, kTrustedLinks);
    if (!parent) return fail(parent.error());
    if (::mkdirat(parent->folder.get(), parent->name.c_str(), 0700) != 0)
      return fail(errno, "creating", place);
  }
  const auto made = open_rooted(place, O_RDONLY | O_DIRECTORY, kTrustedLinks);
  if (!made) return fail(made.error());
  if (::fchmod(made->get(), mode) != 0) return fail(errno, "setting the mode of", place);
  return {};
}

Result<void> remove_entry(const RootedPath& place, int flags) {
  const auto parent = open_rooted_parent(place, kTrustedLinks);
  if (!parent) return fail(parent.error());
  if (::unlinkat(parent->folder.get(), parent->name.c_str(), flags) != 0)
    return fail(errno, "removing", place);
  return {};
}

}  // namespace pvrdma::ctl::migration
