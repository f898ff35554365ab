// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/echo_socket.hpp"

// linux/errqueue.h needs it, and does not include it.
#include <ctime>

#include <linux/errqueue.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace pvrdma::ctl::pmtu {

namespace {

constexpr const char* kNoRight =
    "an ICMP socket (net.ipv4.ping_group_range must hold a group of this user, or the process "
    "needs CAP_NET_RAW)";

std::uint64_t secret() {
  std::random_device source;
  return (std::uint64_t{source()} << 32U) | source();
}

template <typename Value>
Result<void> set(int fd, int level, int option, const Value& value, const char* name) {
  if (setsockopt(fd, level, option, &value, sizeof value) != 0) return fail(errno, "setting", name);
  return {};
}

Result<void> configure(int fd, Family family) {
  if (family == Family::Ipv4) {
    if (auto done = set(fd, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, "IP_MTU_DISCOVER"); !done)
      return done;
    return set(fd, SOL_IP, IP_RECVERR, 1, "IP_RECVERR");
  }
  if (auto done = set(fd, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE, "IPV6_MTU_DISCOVER");
      !done)
    return done;
  return set(fd, SOL_IPV6, IPV6_RECVERR, 1, "IPV6_RECVERR");
}

// Of all ICMP messages to this host, a raw socket wants the answers to echo requests only.
Result<void> filter(int fd, Family family) {
  if (family == Family::Ipv4) {
    const icmp_filter replies{~(1U << static_cast<unsigned>(ICMP_ECHOREPLY))};
    return set(fd, SOL_RAW, ICMP_FILTER, replies, "ICMP_FILTER");
  }
  icmp6_filter replies{};
  ICMP6_FILTER_SETBLOCKALL(&replies);
  ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &replies);
  return set(fd, SOL_ICMPV6, ICMP6_FILTER, replies, "ICMP6_FILTER");
}

// Of one call, so that a flood cannot keep the loop from its other hosts and its clock.
constexpr int kMessagesAtOnce = 64;
constexpr int kSendAgain = 8;

// Needs no right where the kernel is Linux 5.7 or later (socket(7)).
Result<void> bind_to(int fd, const std::string& interface) {
  if (interface.empty()) return {};
  const auto length = static_cast<socklen_t>(interface.size());
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.data(), length) != 0)
    return fail(errno, "binding an ICMP socket to", interface);
  return {};
}

// Errors that a lost packet may have as well: the queues of this host are full for the moment.
bool is_lost(int code) { return code == ENOBUFS || code == EAGAIN || code == ENOMEM; }

// A message of a socket's error queue (MSG_ERRQUEUE in recv(2), IP_RECVERR in ip(7), ipv6(7)).
struct QueuedError {
  sock_extended_err what{};
  std::string offender;  // who sent the ICMP error: an address in numbers; empty: nobody did
  Bytes quoted;          // the beginning of the packet it is about, from the ICMP header on

  [[nodiscard]] bool is_local() const { return what.ee_origin == SO_EE_ORIGIN_LOCAL; }
};

// An ICMP error quotes what fits into 576 bytes (RFC 1812) or 1280 (RFC 4443): the header will do.
constexpr std::size_t kQuotedMost = 576;

// The address that follows an extended error (SO_EE_OFFENDER), AF_UNSPEC where nobody sent it.
std::string offender_of(const std::uint8_t* data, std::size_t length) {
  sockaddr_storage address{};
  if (length <= sizeof(sock_extended_err)) return {};
  std::memcpy(&address, data + sizeof(sock_extended_err),
              std::min(length - sizeof(sock_extended_err), sizeof address));
  return in_numbers(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// The next message of the queue; none when it is empty.
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
    const bool is_error = (part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR) ||
                          (part->cmsg_level == SOL_IPV6 && part->cmsg_type == IPV6_RECVERR);
    const std::size_t length = part->cmsg_len - CMSG_LEN(0);
    if (!is_error || length < sizeof error.what) continue;
    std::memcpy(&error.what, CMSG_DATA(part), sizeof error.what);
    error.offender = offender_of(CMSG_DATA(part), length);
  }
  return error;
}

}  // namespace

EchoSocket::EchoSocket(Fd fd, Stamp stamp, std::string peer)
    : fd_(std::move(fd)), stamp_(stamp), peer_(std::move(peer)) {}

Result<EchoSocket> EchoSocket::open(const Address& peer, const std::string& interface) {
  const Family family = peer.family();
  const int domain = peer.storage.ss_family;
  const int protocol = family == Family::Ipv4 ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6};
  Stamp stamp{family, std::nullopt, secret()};
  Fd fd{socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol)};
  if (!fd) {
    const int refusal = errno;
    fd = Fd{socket(domain, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol)};
    if (!fd && (errno == EPERM || errno == EACCES)) return fail(refusal, "opening", kNoRight);
    if (!fd) return fail(errno, "opening", "an ICMP socket");
    stamp.identifier = static_cast<std::uint16_t>(secret() & 0xFFFFU);
    if (auto done = filter(fd.get(), family); !done) return fail(done.error());
  }
  if (auto done = configure(fd.get(), family); !done) return fail(done.error());
  if (auto done = bind_to(fd.get(), interface); !done) return fail(done.error());
  if (connect(fd.get(), peer.raw(), peer.length) != 0)
    return fail(errno, "finding a route to", peer.text);
  return EchoSocket{std::move(fd), stamp, peer.text};
}

Result<Sending> EchoSocket::send(std::uint16_t sequence, unsigned packet_size) {
  const Bytes message = echo_request(stamp_, sequence, packet_size);
  // An error that came for an earlier packet, on a raw socket even for one of another program, is
  // reported by the next call, whichever that is (ip(7)). It is in the queue as well: once that is
  // read, the call can be made again.
  for (int more = kSendAgain;; --more) {
    drain_errors();
    refused_here_.reset();
    if (::send(fd_.get(), message.data(), message.size(), 0) >= 0) return Handed{};
    const int code = errno;
    const bool queued = drain_errors() > 0;
    if (code == EMSGSIZE && refused_here_) return *refused_here_;
    if (is_lost(code)) return Handed{};
    if (queued || code == EINTR) {
      if (more > 0) continue;
      return Handed{};  // a flood of errors about others: as good as lost
    }
    if (code == EMSGSIZE) return TooLargeHere{};
    return fail(code, "sending to", peer_);
  }
}

int EchoSocket::drain_errors() {
  for (int count = 0; count < kMessagesAtOnce; ++count) {
    const auto error = next_error(fd_.get());
    if (!error) return count;
    const auto& what = error->what;
    if (error->is_local()) {
      if (what.ee_errno == EMSGSIZE) refused_here_ = TooLargeHere{what.ee_info};
      continue;
    }
    const auto sequence = quoted_sequence(stamp_, error->quoted);
    if (!sequence) continue;
    if (what.ee_errno == EMSGSIZE)
      events_.emplace_back(TooBig{*sequence, what.ee_info, error->offender});
    else
      events_.emplace_back(Unreachable{static_cast<int>(what.ee_errno), error->offender});
  }
  return kMessagesAtOnce;
}

void EchoSocket::drain_answers() {
  Bytes buffer(std::size_t{1} << 16U);
  for (int count = 0; count < kMessagesAtOnce; ++count) {
    const ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got < 0) {  // EINTR, or an error that is in the queue and thus told already
      drain_errors();
      continue;
    }
    View message{buffer.data(), static_cast<std::size_t>(got)};
    if (is_raw() && stamp_.family == Family::Ipv4) message = without_ip_header(message);
    if (const auto sequence = answered_sequence(stamp_, message))
      events_.emplace_back(Answered{*sequence});
  }
}

std::optional<EchoEvent> EchoSocket::receive() {
  if (events_.empty()) {
    drain_errors();
    drain_answers();
  }
  if (events_.empty()) return std::nullopt;
  EchoEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace pvrdma::ctl::pmtu
