// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/listening.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/varlink/closing.hpp"

namespace pvrdma::varlink {

namespace {

Fd stream_socket() { return Fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}; }

// Whether the listening process at the other end still runs. A process that hangs in the kernel
// keeps its sockets when it is killed: its main thread has ended, and it answers no client.
bool listens_yet(const Fd& connected) {
  const auto stat = peer_of(connected).and_then(
      [](const ucred& listener) { return process_stat(Root{}, listener.pid); });
  return stat ? stat->state != 'Z' : !means_absent(stat.error());
}

Result<void> remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return errno == ENOENT ? Result<void>{} : fail(errno, "looking at", path);
  if (!S_ISSOCK(status.st_mode)) return fail(EEXIST, "listening on", path);
  const Fd probe = stream_socket();
  if (!probe) return fail(errno, "making", "a socket");
  const bool connected =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  // EAGAIN means a living listener with a full queue, EPERM or EACCES a listener that refuses this
  // user.
  const bool refused = !connected && (errno == ECONNREFUSED || errno == ENOENT);
  if (connected ? listens_yet(probe) : !refused) return fail(EADDRINUSE, "listening on", path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(errno, "removing", path);
  return {};
}

// So many connections may wait to be accepted, in the order of their arrival. Further clients wait
// in connect(2), where a process waits once only, however many connections it wants.
constexpr int kBacklog = 256;

}  // namespace

Result<ucred> peer_of(const Fd& socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return fail(errno, "asking who is", "at the other end");
  return peer;
}

Result<Fd> listening_socket(const std::string& path, unsigned mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(ENAMETOOLONG, "listening on", path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (auto removed = remove_stale(path, address); !removed) return fail(std::move(removed.error()));

  Fd socket = stream_socket();
  if (!socket) return fail(errno, "making", "a socket");
  // bind(2) gives the file the socket's mode, less the umask (Linux, net/unix/af_unix.c). So the
  // file's mode is never wider, and chmod only restores the bits that the umask removed.
  if (::fchmod(socket.get(), mode) != 0) return fail(errno, "setting the mode of", path);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(errno, "binding", path);
  if (::chmod(path.c_str(), mode) != 0) return fail(errno, "setting the mode of", path);
  allow_descriptors(socket, false);
  if (::listen(socket.get(), kBacklog) != 0) return fail(errno, "listening on", path);
  return socket;
}

Result<Fd> inherited_socket(Fd socket) {
  int listening = 0;
  socklen_t length = sizeof listening;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0)
    return fail(errno, "looking at", "the inherited socket");
  if (listening == 0) return fail(EINVAL, "listening on", "the inherited socket");
  const int flags = ::fcntl(socket.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return fail(errno, "setting the flags of", "the inherited socket");
  allow_descriptors(socket, false);
  return socket;
}

}  // namespace pvrdma::varlink
