// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/rooted_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <vector>

namespace pvrdma {

namespace {

constexpr unsigned kMostLinks = 40;  // the kernel's own limit, path_resolution(7)

bool may_own(unsigned id, unsigned own, bool this_system) {
  return id == 0 || (!this_system && id == own);
}

bool others_may_write(const struct stat& status, bool this_system) {
  const bool group =
      (status.st_mode & S_IWGRP) != 0 && !may_own(status.st_gid, ::getegid(), this_system);
  return !S_ISLNK(status.st_mode) && (group || (status.st_mode & S_IWOTH) != 0);
}

// Whether an entry of an ACL may let another user write this. The mode's group bits are then the
// most that such an entry gives (acl(5)).
bool acl_may_let_write(const struct stat& status, const std::string& path) {
  if (S_ISLNK(status.st_mode) || (status.st_mode & S_IWGRP) == 0) return false;
  if (::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) >= 0) return true;
  return errno != ENODATA && errno != ENOTSUP;
}

// Why a user other than root can have written this; empty: only root can. `path` leads to it.
std::string stranger(const struct stat& status, const std::string& path, bool this_system) {
  if (!may_own(status.st_uid, ::geteuid(), this_system))
    return "belongs to uid " + std::to_string(status.st_uid) + ", not to root";
  if (others_may_write(status, this_system)) return "can be written by others than root";
  return acl_may_let_write(status, path) ? "can be written by others than root (ACL)" : "";
}

// One walk from the root of a place to its last component.
class Walker {
 public:
  // Starts in the root's folder.
  static Result<Walker> at_root(const RootedPath& place, const Trust& trust) {
    Walker walker{place, trust};
    Fd root{::open(place.root().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!root) return fail(errno, "opening", place.root());
    struct stat status {};
    if (::fstat(root.get(), &status) != 0) return walker.failed(errno);
    if (auto good = walker.trusted(status, root.get()); !good) return fail(std::move(good.error()));
    walker.enter(std::move(root), "/");
    return walker;
  }

  // Walks to the folder of the last component, and does not follow that component.
  Result<Parent> parent() {
    if (auto walked = walk(1); !walked) return fail(std::move(walked.error()));
    if (file_) return failed(ENOTDIR);
    if (waiting_.empty() || waiting_.back() == "..") return failed(EINVAL);
    return Parent{std::move(folders_.back().fd), std::move(waiting_.back())};
  }

  Result<Fd> open(int flags) {
    if (auto walked = walk(0); !walked) return fail(std::move(walked.error()));
    if (!waiting_.empty()) return failed(ENOTDIR);
    if (auto harmless = refuse_device(flags); !harmless) return fail(std::move(harmless.error()));
    const int always = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    Fd fd{::openat(here(), file_ ? file_->c_str() : ".", flags | always)};
    if (!fd) return failed(errno);
    if (trust_.writers == Writers::Anyone) return fd;
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return failed(errno);
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return failed(EINVAL);
    if (auto good = trusted(status, fd.get()); !good) return fail(std::move(good.error()));
    return fd;
  }

  Result<std::string> resolve() {
    if (auto walked = walk(0); !walked && walked.error().code != ENOENT)
      return fail(std::move(walked.error()));
    std::filesystem::path way{"/"};
    for (const Folder& folder : folders_) way /= folder.name;
    if (file_) way /= *file_;
    for (; !waiting_.empty(); waiting_.pop_back()) way /= waiting_.back();
    return way.lexically_normal().string();
  }

 private:
  struct Folder {
    Fd fd;
    std::string name;
  };

  Walker(const RootedPath& place, const Trust& trust) : place_(place), trust_(trust) {
    push(place.below().string());
  }

  void enter(Fd fd, std::string name) { folders_.push_back({std::move(fd), std::move(name)}); }
  [[nodiscard]] int here() const { return folders_.back().fd.get(); }

  void push(const std::string& text) {
    std::vector<std::string> parts;
    for (const auto& part : std::filesystem::path{text}.relative_path())
      if (!part.empty() && part != ".") parts.push_back(part.string());
    waiting_.insert(waiting_.end(), parts.rbegin(), parts.rend());
  }

  // Walks until `left` components are left, or until a component is not a folder.
  Result<void> walk(std::size_t left) {
    while (waiting_.size() > left && !file_)
      if (auto stepped = step(); !stepped) return stepped;
    return {};
  }

  // Takes one component: enters a folder, leaves one, follows a link, or sets `file_` for anything
  // else.
  Result<void> step() {
    const std::string name = waiting_.back();
    struct stat status {};
    if (name != ".." && ::fstatat(here(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return failed(errno);
    waiting_.pop_back();
    if (name == "..") {
      if (folders_.size() > 1) folders_.pop_back();
      return {};
    }
    if (S_ISLNK(status.st_mode)) return along_link(name, status);
    if (!S_ISDIR(status.st_mode)) {
      file_ = name;
      return {};
    }
    Fd folder{::openat(here(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!folder || ::fstat(folder.get(), &status) != 0) return failed(errno);
    if (auto good = trusted(status, folder.get()); !good) return good;
    enter(std::move(folder), name);
    return {};
  }

  Result<void> along_link(const std::string& name, const struct stat& status) {
    if (trust_.links == Links::Refuse || ++links_ > kMostLinks) return failed(ELOOP);
    if (auto good = trusted(status, -1); !good) return good;
    const auto target = read_link(here(), name);
    if (!target) return failed(target.error().code);
    if (target->starts_with('/')) folders_.erase(folders_.begin() + 1, folders_.end());
    push(*target);
    return {};
  }

  // A device node in an image opens a device of this machine, and opening can have an effect: a
  // watchdog starts to count. The null device is allowed: it is a usual way to mask a file.
  [[nodiscard]] Result<void> refuse_device(int flags) const {
    if (place_.on_this_system() || !file_ || (flags & (O_PATH | O_DIRECTORY)) != 0) return {};
    struct stat status {};
    if (::fstatat(here(), file_->c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return failed(errno);
    const bool null = S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);  // null(4)
    if (null || (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode))) return {};
    return failed(EINVAL);
  }

  // `fd`: open with this status; not used for a link.
  [[nodiscard]] Result<void> trusted(const struct stat& status, int fd) const {
    if (trust_.writers == Writers::Anyone) return {};
    // fgetxattr(2) takes no descriptor that was opened with O_PATH.
    const std::string why =
        stranger(status, "/proc/self/fd/" + std::to_string(fd), place_.on_this_system());
    if (why.empty()) return {};
    return fail(EPERM, "opening", place_.string() + ", which " + why + " or is in such a folder");
  }

  [[nodiscard]] tl::unexpected<Error> failed(int code) const {
    return fail(code, "opening", place_.string());
  }

  const RootedPath& place_;
  Trust trust_;
  std::vector<Folder> folders_;       // from the root to the present folder
  std::vector<std::string> waiting_;  // components to come, the next one last
  std::optional<std::string> file_;   // in the last folder; none: only folders so far
  unsigned links_ = 0;
};

// Whether `path`, a part of the way to a place, is not trusted.
std::optional<Distrusted> judged(const std::string& path, const struct stat& status,
                                 bool this_system) {
  if (S_ISLNK(status.st_mode))
    return Distrusted{path, "is a symbolic link, which is not followed",
                      "t=$(readlink -f " + path + ") && rm " + path + " && cp -rL \"$t\" " + path};
  const std::string why = stranger(status, path, this_system);
  if (why.empty()) return std::nullopt;
  const bool owned = may_own(status.st_uid, ::geteuid(), this_system);
  const std::string chown = owned ? "" : "chown root:root " + path;
  // A file of root's group may stay writable for that group.
  const bool closed = (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return Distrusted{path, why,
                    chown + (owned || closed ? "" : " && ") + (closed ? "" : "chmod go-w " + path)};
}

}  // namespace

RootedPath::RootedPath(std::filesystem::path root, std::string_view below)
    : root_(std::move(root)),
      below_(std::filesystem::path{below}.relative_path()),
      path_(root_ / below_) {}

RootedPath RootedPath::operator/(std::string_view name) const {
  return {root_, (below_ / std::filesystem::path{name}.relative_path()).string()};
}

Result<Fd> open_rooted(const RootedPath& place, int flags, const Trust& trust) {
  return Walker::at_root(place, trust).and_then([flags](Walker walker) {
    return walker.open(flags);
  });
}

Result<Parent> open_rooted_parent(const RootedPath& place, const Trust& trust) {
  return Walker::at_root(place, trust).and_then([](Walker walker) { return walker.parent(); });
}

Result<std::string> read_link(int folder, const std::string& name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  if (length < 0) return fail(errno, "reading link", name);
  return std::string{target.data(), static_cast<std::size_t>(length)};
}

Result<RootedPath> resolve_rooted(const RootedPath& place) {
  return Walker::at_root(place, {})
      .and_then([](Walker walker) { return walker.resolve(); })
      .map([&](const std::string& way) {
        return RootedPath{place.root(), way};
      });
}

std::optional<Distrusted> find_distrusted(const RootedPath& place) {
  struct stat status {};
  if (::stat(place.root().c_str(), &status) != 0) return std::nullopt;
  if (auto found = judged(place.root(), status, place.on_this_system())) return found;
  RootedPath at{place.root(), ""};
  for (const auto& part : place.below()) {
    at = at / part.string();
    const auto parent = open_rooted_parent(at, {Links::Refuse, Writers::Anyone});
    if (!parent ||
        ::fstatat(parent->folder.get(), parent->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return std::nullopt;
    if (auto found = judged(at.string(), status, place.on_this_system())) return found;
  }
  return std::nullopt;
}

}  // namespace pvrdma
