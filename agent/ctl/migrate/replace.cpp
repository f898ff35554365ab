#include "agent/ctl/migrate/replace.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "agent/base/handle.hpp"

namespace pvrdma::ctl::moving {

namespace {

constexpr std::size_t kLimitBytes = 256U << 10U;

// A file system without extended attributes has none to copy.
Result<void> copy_attributes(const std::filesystem::path& from, int to) {
  std::array<char, 4096> names{};
  const ssize_t length = ::listxattr(from.c_str(), names.data(), names.size());
  if (length < 0 && errno == ENOTSUP) return {};
  if (length < 0) return fail(errno, "listing the attributes of", from);
  for (std::string_view rest{names.data(), static_cast<std::size_t>(length)}; !rest.empty();) {
    const std::string name{rest.substr(0, rest.find('\0'))};
    rest.remove_prefix(name.size() + 1);
    std::array<char, 4096> value{};
    const ssize_t size = ::getxattr(from.c_str(), name.c_str(), value.data(), value.size());
    if (size < 0) return fail(errno, "reading the attribute " + name + " of", from);
    if (::fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(size), 0) != 0)
      return fail(errno, "copying the attribute " + name + " of", from);
  }
  return {};
}

Result<void> dress(const Fd& draft, const std::filesystem::path& path, const struct stat& like,
                   const timespec* mtime) {
  if (::fchown(draft.get(), like.st_uid, like.st_gid) != 0)
    return fail(errno, "giving its owner to the new", path);
  if (::fchmod(draft.get(), like.st_mode & 07777U) != 0)
    return fail(errno, "giving its mode to the new", path);
  if (auto copied = copy_attributes(path, draft.get()); !copied) return copied;
  if (mtime != nullptr) {
    const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, *mtime};
    if (::futimens(draft.get(), times.data()) != 0)
      return fail(errno, "giving its time to the new", path);
  }
  if (::fsync(draft.get()) != 0) return fail(errno, "syncing the new", path);
  return {};
}

Result<void> sync_directory(const std::filesystem::path& directory) {
  const Fd opened{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened || ::fsync(opened.get()) != 0) return fail(errno, "syncing", directory);
  return {};
}

Result<void> draft_and_rename(const std::filesystem::path& draft, const std::filesystem::path& path,
                              std::string_view content, const struct stat& like,
                              const timespec* mtime, const Check& check) {
  const Fd fd{::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd) return fail(errno, "creating", draft);
  if (auto written = write_all(fd.get(), content, draft); !written) return written;
  if (auto dressed = dress(fd, path, like, mtime); !dressed) return dressed;
  if (check)
    if (auto good = check(draft); !good) return good;
  if (std::rename(draft.c_str(), path.c_str()) != 0) return fail(errno, "replacing", path);
  return sync_directory(path.parent_path());
}

}  // namespace

Result<FileState> read_state(const std::filesystem::path& path) {
  FileState state;
  if (::lstat(path.c_str(), &state.status) != 0) return fail(errno, "looking at", path);
  if (!S_ISREG(state.status.st_mode)) return fail(EINVAL, "looking for a regular file at", path);
  if (state.status.st_nlink > 1) return fail(EMLINK, "looking at the names of", path);
  auto content = read_file(path, kLimitBytes);
  if (!content) return fail(content.error());
  state.content = std::move(*content);
  return state;
}

Result<void> replace_content(const std::filesystem::path& path, std::string_view content,
                             const struct stat& like, const timespec* mtime, const Check& check) {
  const auto draft = path.parent_path() / ("." + path.filename().string() + ".pvrdma-agent");
  auto replaced = draft_and_rename(draft, path, content, like, mtime, check);
  // Of its own making only: one that was there before was not to be created.
  if (!replaced && !(replaced.error().code == EEXIST && replaced.error().doing == "creating"))
    ::unlink(draft.c_str());
  return replaced;
}

}  // namespace pvrdma::ctl::moving
