#include "agent/executor/caller.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace pvrdma::executor {

Result<uid_t> owner_of(const RootedPath& place) {
  const auto parent = open_rooted_parent(place, kTrusted);
  if (!parent) return fail(parent.error());
  struct stat status {};
  if (::fstatat(parent->folder.get(), parent->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return fail(errno, "looking at", place.string());
  if (!S_ISSOCK(status.st_mode)) return fail(ENOTSOCK, "looking at", place.string());
  return status.st_uid;
}

Result<uid_t> owner_of(int socket) {
  constexpr const char* kSocket = "the inherited socket";
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return fail(errno, "looking at", kSocket);
  // Else it has no name, or one that is no path (unix(7)).
  if (address.sun_family != AF_UNIX || length <= offsetof(sockaddr_un, sun_path) ||
      address.sun_path[0] != '/')
    return fail(EINVAL, "looking for the path of", kSocket);
  const std::string path{address.sun_path,
                         ::strnlen(address.sun_path, length - offsetof(sockaddr_un, sun_path))};
  return owner_of(Root{} / path);
}

}  // namespace pvrdma::executor
