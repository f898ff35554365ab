// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/control.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::verify {

namespace {

// Pause between two tries to connect: no event tells when the other machine begins to listen.
constexpr Milliseconds kBetweenTries{100};
constexpr std::chrono::seconds kOneTry{3};  // limit for each of a name's addresses
constexpr std::chrono::seconds kLastWords{1};

using Addresses = Handle<addrinfo, freeaddrinfo>;

Result<Addresses> resolve(const std::string& host, int port, bool listens) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | (listens ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                 std::to_string(port).c_str(), &wanted, &found);
  if (code != 0) return fail(0, "finding the address of", host + ": " + ::gai_strerror(code));
  return Addresses{found};
}

// Whether all are link-local without the name of a link: connect(2) answers EINVAL for them.
bool all_lack_links(const addrinfo* at) {
  for (; at != nullptr; at = at->ai_next) {
    const auto* full = reinterpret_cast<const sockaddr_in6*>(at->ai_addr);
    if (at->ai_family != AF_INET6) return false;
    if (full->sin6_scope_id != 0 || !IN6_IS_ADDR_LINKLOCAL(&full->sin6_addr)) return false;
  }
  return true;
}

void set(int fd, int level, int option, int value = 1) {
  static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
}

// Like poll_until(), but after the deadline data that is there comes too late as well: a peer could
// send without end.
int poll_within(int fd, short events, BootTime deadline) {
  return BootClock::now() >= deadline ? ETIMEDOUT : poll_until(fd, events, deadline);
}

// Finds out within half a minute that a peer has vanished without a word.
Control connected(Fd fd) {
  set(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  set(fd.get(), SOL_SOCKET, SO_KEEPALIVE);
  set(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
  return Control{std::move(fd)};
}

Fd open_socket(const addrinfo& address) {
  return Fd{::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                     address.ai_protocol)};
}

// Returns the errno; 0: connected.
int connect_to(const addrinfo& address, Fd& fd, BootTime deadline) {
  fd = open_socket(address);
  if (!fd) return errno;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (const int code = poll_until(fd.get(), POLLOUT, deadline)) return code;
  int code = 0;
  socklen_t size = sizeof code;
  return ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

Fd listen_on(const addrinfo& address, int waiting) {
  Fd fd = open_socket(address);
  if (!fd) return fd;
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(fd.get(), waiting) != 0)
    return {};
  return fd;
}

// How much an error code tells about the other side.
int weight_of(int code) {
  switch (code) {
    case 0:
      return 0;
    case EAFNOSUPPORT:  // this machine has no IPv6 at all
      return 1;
    case ENETUNREACH:  // it has no address or no route of that family
    case EADDRNOTAVAIL:
      return 2;
    default:
      return 3;
  }
}

Result<Json> unless_failed(Json message) {
  const std::string why = text_in(message, "failed");
  if (why.empty()) return message;
  return fail(0, "measuring:", "the peer failed: " + printable(why));
}

// The address that getpeername or getsockname returns.
std::string text_of_address(int fd, int (*get)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> text{};
  if (get(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text.data(), text.size(),
                    nullptr, 0, NI_NUMERICHOST) != 0)
    return "?";
  // A socket for both families shows an IPv4 address in IPv6's form.
  const std::string_view plain{text.data()};
  constexpr std::string_view kMapped = "::ffff:";
  const bool is_mapped = plain.starts_with(kMapped) && plain.find('.') != plain.npos;
  return std::string{is_mapped ? plain.substr(kMapped.size()) : plain};
}

}  // namespace

std::string text_in(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += formatted("{:02x}", byte);
  return text;
}

int more_telling(int before, int tried) {
  return weight_of(tried) >= weight_of(before) ? tried : before;
}

Result<Control> Control::connect(const std::string& host, int port, BootTime deadline) {
  const auto addresses = resolve(host, port, false);
  if (!addresses) return fail(addresses.error());
  if (all_lack_links(addresses->get()))
    return fail(0, "connecting to", host + ", which needs its link's name: fe80::1%ens224f0");
  int code = 0;
  do {
    for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
      Fd fd;
      const int tried = connect_to(*at, fd, std::min(deadline, BootClock::now() + kOneTry));
      if (tried == 0) return connected(std::move(fd));
      // The deadline cuts the last try short, so its ETIMEDOUT tells nothing about the other side.
      if (code == 0 || tried != ETIMEDOUT || BootClock::now() < deadline)
        code = more_telling(code, tried);
    }
    static_cast<void>(poll_until(-1, 0, std::min(deadline, BootClock::now() + kBetweenTries)));
  } while (BootClock::now() < deadline);
  return fail(code, "connecting to", host + " port " + std::to_string(port));
}

Result<Listener> Listener::open(const std::string& address, int port, int waiting) {
  const auto addresses = resolve(address, port, true);
  if (!addresses) return fail(addresses.error());
  Fd fd;
  int code = 0;
  // Any address: an IPv6 socket serves both families; an IPv4 one is the choice where there is no
  // IPv6.
  for (const bool only_ipv6 : {address.empty(), false})
    for (const addrinfo* at = addresses->get(); at != nullptr && !fd; at = at->ai_next)
      if (!only_ipv6 || at->ai_family == AF_INET6) {
        fd = listen_on(*at, waiting);
        if (!fd) code = more_telling(code, errno);
      }
  if (!fd)
    return fail(code, "listening on",
                (address.empty() ? "any address" : address) + " port " + std::to_string(port));
  return Listener{std::move(fd)};
}

Result<Control> Listener::accept(BootTime deadline) const {
  if (const int code = poll_within(fd_.get(), POLLIN, deadline))
    return fail(code, "waiting for", "a peer");
  Fd fd{::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!fd) return fail(errno, "accepting", "a peer");
  return connected(std::move(fd));
}

std::string Listener::address() const { return text_of_address(fd_.get(), ::getsockname); }

Result<void> Control::wait(short events, BootTime deadline) const {
  if (const int code = poll_within(fd_.get(), events, deadline))
    return fail(code, "waiting for", "the peer");
  return {};
}

Result<void> Control::write(const std::byte* data, std::size_t bytes, BootTime deadline) {
  while (bytes > 0) {
    const ssize_t done = ::send(fd_.get(), data, bytes, MSG_NOSIGNAL);
    if (done > 0) {
      data += done;
      bytes -= static_cast<std::size_t>(done);
    } else if (errno == EAGAIN) {
      if (auto waited = wait(POLLOUT, deadline); !waited) return waited;
    } else if (errno != EINTR) {
      return fail(errno, "sending to", "the peer");
    }
  }
  return {};
}

Result<std::size_t> Control::read_some(std::byte* data, std::size_t bytes,
                                       BootTime deadline) const {
  for (;;) {
    const ssize_t came = ::recv(fd_.get(), data, bytes, 0);
    if (came > 0) return static_cast<std::size_t>(came);
    if (came == 0) return fail(ECONNRESET, "receiving from", "the peer");
    if (errno == EAGAIN) {
      if (auto waited = wait(POLLIN, deadline); !waited) return fail(waited.error());
    } else if (errno != EINTR) {
      return fail(errno, "receiving from", "the peer");
    }
  }
}

Result<void> Control::read(std::byte* data, std::size_t bytes, BootTime deadline) {
  std::size_t done = std::min(bytes, received_.size());
  std::memcpy(data, received_.data(), done);
  received_.erase(0, done);
  while (done < bytes) {
    const auto came = read_some(data + done, bytes - done, deadline);
    if (!came) return fail(came.error());
    done += *came;
  }
  return {};
}

Result<void> Control::send(const Json& message, BootTime deadline) {
  const std::string line = message.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  return write(reinterpret_cast<const std::byte*>(line.data()), line.size(), deadline);
}

Result<Json> Control::receive(BootTime deadline) {
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    if (received_.size() >= kLineAtMost)
      return fail(EMSGSIZE, "reading what came from", "the peer");
    std::array<std::byte, 1024> part{};
    const auto came = read_some(part.data(), part.size(), deadline);
    if (!came) return fail(came.error());
    received_.append(reinterpret_cast<const char*>(part.data()), *came);
  }
  Json message = Json::parse(received_.substr(0, end), nullptr, false);
  received_.erase(0, end + 1);
  if (!message.is_object()) return fail(EBADMSG, "reading what came from", "the peer");
  return message;
}

Result<Json> Control::receive_answer(BootTime deadline) {
  return receive(deadline).and_then(unless_failed);
}

void Control::send_failure(const Error& why) {
  static_cast<void>(send({{"failed", why.message()}}, BootClock::now() + kLastWords));
}

Result<void> Control::check_peer() {
  bool has_ended = false;
  while (received_.size() < kLineAtMost && !has_ended) {
    std::array<char, 1024> part{};
    const ssize_t came = ::recv(fd_.get(), part.data(), part.size(), 0);
    if (came < 0 && errno == EAGAIN) break;
    if (came > 0) received_.append(part.data(), static_cast<std::size_t>(came));
    has_ended = came == 0 || (came < 0 && errno != EINTR);
  }
  std::string_view rest = received_;
  for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    if (auto good = unless_failed(Json::parse(rest.substr(0, end), nullptr, false)); !good)
      return fail(good.error());
    rest.remove_prefix(end + 1);
  }
  if (has_ended) return fail(ECONNRESET, "waiting for", "a message: the peer has ended");
  return {};
}

std::string Control::peer() const { return text_of_address(fd_.get(), ::getpeername); }

}  // namespace pvrdma::verify
