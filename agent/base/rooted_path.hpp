// SPDX-License-Identifier: GPL-2.0-or-later
// RootedPath: a path below a root, opened component by component, so that no symbolic link leads
// out of the root (as openat2(2) does with RESOLVE_IN_ROOT, but on every kernel). On request it
// also ensures that only root can have written the file.
//
// The root is "/" on a running system, the folder of an image for a tool with --root, and a
// temporary folder in tests.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma {

class RootedPath {
 public:
  RootedPath(std::filesystem::path root, std::string_view below);

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  // Relative to the root: "etc/rc.local".
  [[nodiscard]] const std::filesystem::path& below() const noexcept { return below_; }
  // For messages, and for system calls on the running system, whose links cannot leave the root.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const char* c_str() const noexcept { return path_.c_str(); }
  [[nodiscard]] std::string string() const { return path_.string(); }
  // The path as that system names it: "/etc/rc.local".
  [[nodiscard]] std::string inside() const { return "/" + below_.string(); }
  [[nodiscard]] bool on_this_system() const { return root_ == "/"; }

  operator const std::filesystem::path&() const noexcept { return path_; }
  operator std::string() const { return path_.string(); }
  [[nodiscard]] RootedPath operator/(std::string_view name) const;

 private:
  std::filesystem::path root_;
  std::filesystem::path below_;
  std::filesystem::path path_;  // root_ / below_
};

// The root of the system that a look reads.
class Root {
 public:
  Root() : path_("/") {}
  explicit Root(std::filesystem::path path) : path_(std::move(path)) {}
  // The place of `absolute` ("/proc/modules") below this root.
  [[nodiscard]] RootedPath operator/(std::string_view absolute) const { return {path_, absolute}; }
  [[nodiscard]] bool is_this_system() const { return path_ == "/"; }

 private:
  std::filesystem::path path_;
};

enum class Links {
  Follow,  // below the root: an absolute link starts at the root, and ".." never leads above it
  Refuse,  // ELOOP
};
enum class Writers {
  Anyone,
  // EPERM unless each folder on the way (the root's own as well), each link and the file itself
  // belongs to uid 0 and is writable by no other user, also not by an ACL. Below a root other than
  // "/" they may also belong to the user who runs this program, as that user then only reads his
  // own files.
  RootAlone,
};
struct Trust {
  Links links = Links::Follow;
  Writers writers = Writers::Anyone;
};
inline constexpr Trust kTrusted{Links::Refuse, Writers::RootAlone};
inline constexpr Trust kTrustedLinks{Links::Follow, Writers::RootAlone};

// open(2) with O_CLOEXEC, O_NOFOLLOW, O_NONBLOCK (so that a FIFO does not block) and `flags`, which
// must not create. With RootAlone the file must be a regular one or a folder (EINVAL). EINVAL also
// for a device below a root other than "/", except the null device.
[[nodiscard]] Result<Fd> open_rooted(const RootedPath& place, int flags, const Trust& trust = {});

// The folder of the place, opened with O_PATH, and the name of the last component. The name need
// not exist and is not followed. For openat(2), readlinkat(2), renameat(2).
struct Parent {
  Fd folder;
  std::string name;
};
[[nodiscard]] Result<Parent> open_rooted_parent(const RootedPath& place, const Trust& trust = {});

// The target of the link `name` in this folder (or AT_FDCWD), by readlinkat(2). The Error has its
// errno (EINVAL: not a link).
[[nodiscard]] Result<std::string> read_link(int folder, const std::string& name);

// The same place as a path without links. Components that do not exist stay as they are.
[[nodiscard]] Result<RootedPath> resolve_rooted(const RootedPath& place);

// The first part of the way to a place, the place included, that kTrusted refuses.
struct Distrusted {
  std::string path;    // with the root
  std::string why;     // "belongs to uid 1000, not to root"
  std::string remedy;  // a command that makes it acceptable
};
// For a message, after the place could not be opened. None: every existing part is root's.
[[nodiscard]] std::optional<Distrusted> find_distrusted(const RootedPath& place);

}  // namespace pvrdma
