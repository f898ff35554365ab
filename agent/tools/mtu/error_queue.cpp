#include "agent/tools/mtu/error_queue.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pvrdma::ctl::pmtu {

namespace {

// An ICMP error quotes what fits into 576 bytes (RFC 1812) or 1280 (RFC 4443): the header will do.
constexpr std::size_t kQuotedMost = 576;

bool is_error(const cmsghdr& part) {
  return (part.cmsg_level == SOL_IP && part.cmsg_type == IP_RECVERR) ||
         (part.cmsg_level == SOL_IPV6 && part.cmsg_type == IPV6_RECVERR);
}

// The address that follows an extended error (SO_EE_OFFENDER), AF_UNSPEC where nobody sent it.
std::string offender_of(const std::uint8_t* data, std::size_t length) {
  sockaddr_storage address{};
  if (length <= sizeof(sock_extended_err)) return {};
  std::memcpy(&address, data + sizeof(sock_extended_err),
              std::min(length - sizeof(sock_extended_err), sizeof address));
  const socklen_t size = address.ss_family == AF_INET    ? sizeof(sockaddr_in)
                         : address.ss_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                         : 0;
  std::array<char, NI_MAXHOST> text{};
  if (size == 0 || getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text.data(),
                               text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text.data();
}

}  // namespace

std::optional<QueuedError> next_error(int fd) {
  QueuedError error;
  error.quoted.resize(kQuotedMost);
  iovec data{error.quoted.data(), error.quoted.size()};
  alignas(cmsghdr) std::array<std::uint8_t, 512> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do got = recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  if (got < 0) return std::nullopt;
  error.quoted.resize(static_cast<std::size_t>(got));
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    const std::size_t length = part->cmsg_len - CMSG_LEN(0);
    if (!is_error(*part) || length < sizeof error.what) continue;
    std::memcpy(&error.what, CMSG_DATA(part), sizeof error.what);
    error.offender = offender_of(CMSG_DATA(part), length);
  }
  return error;
}

}  // namespace pvrdma::ctl::pmtu
