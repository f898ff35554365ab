// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config/root_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace pvrdma {

namespace {

tl::unexpected<Error> bad_file(const RootedPath& place, const std::string& what) {
  return fail(0, place.string() + ": " + what, "");
}

tl::unexpected<Error> cannot_be_read(const RootedPath& place, const Error& error) {
  if (error.code == EFBIG) return bad_file(place, kTooLarge);
  if (error.code == EPERM || error.code == ELOOP)
    if (const auto found = find_distrusted(place)) {
      const std::string which = found->path == place.string() ? "" : found->path + " ";
      return bad_file(place, which + found->why + ", so it is not read: " + found->remedy);
    }
  const char* const remedy =
      error.code == EACCES ? "; the agent is not root: it needs o+r, its folders o+x" : "";
  return bad_file(place, "cannot be read: " + Error{error.code, "", ""}.message() + remedy);
}

// A missing file is no risk, even if another user could write in its folder: /run of a container is
// often a plain tmpfs.
bool is_absent(const RootedPath& place, const Error& error) {
  return means_absent(error) ||
         (error.code == EPERM && !is_there(place, FinalLink::Shown).value_or(true));
}

bool masks(const Parent& parent, const struct stat& status) {
  return status.st_uid == 0 &&
         read_link(parent.folder.get(), parent.name).value_or("") == "/dev/null";
}

}  // namespace

Result<bool> root_has(const RootedPath& place) {
  const auto parent = open_rooted_parent(place, kTrusted);
  if (!parent && is_absent(place, parent.error())) return false;
  if (!parent) return cannot_be_read(place, parent.error());
  struct stat status {};
  if (::fstatat(parent->folder.get(), parent->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    return true;
  const Error error{errno, "", ""};
  if (means_absent(error)) return false;
  return cannot_be_read(place, error);
}

Result<std::vector<std::string>> root_folder(const RootedPath& place) {
  auto names = list_directory(place, kTrusted);
  if (names) return names;
  if (is_absent(place, names.error())) return std::vector<std::string>{};
  return cannot_be_read(place, names.error());
}

Result<std::optional<std::string>> root_file(const RootedPath& place, std::size_t limit_bytes) {
  const auto parent = open_rooted_parent(place, kTrusted);
  if (!parent) return cannot_be_read(place, parent.error());
  struct stat status {};
  if (::fstatat(parent->folder.get(), parent->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return cannot_be_read(place, {errno, "", ""});
  if (S_ISLNK(status.st_mode) && masks(*parent, status)) return std::nullopt;
  if (S_ISDIR(status.st_mode)) return bad_file(place, "is a directory, not a file");
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
    return bad_file(place, "is not a regular file");
  // Checks the file again after opening it; the checks above only chose the error text.
  auto text = read_file(place, limit_bytes, kTrusted);
  if (!text) return cannot_be_read(place, text.error());
  return std::move(*text);
}

}  // namespace pvrdma
