#include "probes/netlink.hpp"

#include <netlink/attr.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr Milliseconds kSilence = std::chrono::seconds{5};
// netlink(7): the kernel fills a dump's datagrams up to the reader's buffer, at most 32 KiB.
constexpr std::size_t kDatagramBytes = 32U << 10U;

Error answer_error(int code) { return {code, "asking the kernel", "over netlink"}; }

// What NLMSG_ERROR and NLMSG_DONE carry: 0 or a negative errno.
Result<void> verdict(nlmsghdr& message) {
  int code = 0;
  if (message.nlmsg_len >= NLMSG_LENGTH(sizeof code))
    std::memcpy(&code, NLMSG_DATA(&message), sizeof code);
  else if (message.nlmsg_type == NLMSG_ERROR)
    code = -EBADMSG;
  if (code != 0) return fail(answer_error(code < 0 ? -code : EBADMSG));
  return {};
}

}  // namespace

Result<bool> walk_datagram(std::span<char> datagram, std::uint32_t sequence,
                           const OnMessage& take) {
  std::size_t at = 0;
  while (datagram.size() - at >= sizeof(nlmsghdr)) {
    // The buffer is aligned for it, and every message starts at a multiple of four.
    auto& message = *reinterpret_cast<nlmsghdr*>(datagram.data() + at);
    if (message.nlmsg_len < sizeof(nlmsghdr) || message.nlmsg_len > datagram.size() - at)
      return fail(answer_error(EBADMSG));
    at = std::min<std::size_t>(at + NLMSG_ALIGN(message.nlmsg_len), datagram.size());
    if (message.nlmsg_seq != sequence || message.nlmsg_type == NLMSG_NOOP) continue;
    if ((message.nlmsg_flags & NLM_F_DUMP_INTR) != 0) return fail(answer_error(EINTR));
    if (message.nlmsg_type == NLMSG_ERROR || message.nlmsg_type == NLMSG_DONE)
      return verdict(message).map([] { return true; });
    if (auto taken = take(message); !taken) return fail(std::move(taken.error()));
    if ((message.nlmsg_flags & NLM_F_MULTI) == 0) return true;
  }
  if (at != datagram.size()) return fail(answer_error(EBADMSG));
  return false;
}

std::string attribute_text(nlattr* attribute) {
  const auto* text = static_cast<const char*>(nla_data(attribute));
  return printable({text, ::strnlen(text, static_cast<std::size_t>(nla_len(attribute)))});
}

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
  Socket socket{nl_socket_alloc()};
  if (!socket) return fail(ENOMEM, "opening", "a netlink socket");
  // Without this every question asks for an acknowledgement beside its answer.
  nl_socket_disable_auto_ack(socket.get());
  errno = 0;
  if (nl_connect(socket.get(), protocol) < 0)
    return fail(errno != 0 ? errno : EIO, "opening", "a netlink socket");
  return NetlinkSocket{std::move(socket)};
}

Result<void> NetlinkSocket::ask(nl_msg& question, const OnMessage& take) {
  errno = 0;
  if (nl_send_auto(socket_.get(), &question) < 0)
    return fail(errno != 0 ? errno : EIO, "asking the kernel", "over netlink");
  const std::uint32_t sequence = nlmsg_hdr(&question)->nlmsg_seq;
  const int fd = nl_socket_get_fd(socket_.get());
  // Not initialised: only the pages that an answer fills are ever touched.
  alignas(nlmsghdr) std::array<char, kDatagramBytes> buffer;
  for (;;) {
    pollfd readable{fd, POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(kSilence.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail(answer_error(ready == 0 ? ETIMEDOUT : errno));
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(answer_error(errno));
    const auto length = static_cast<std::size_t>(got);
    if (length > buffer.size()) return fail(answer_error(EMSGSIZE));
    const auto ended = walk_datagram(std::span{buffer.data(), length}, sequence, take);
    if (!ended) return fail(ended.error());
    if (*ended) return {};
  }
}

}  // namespace pvrdma::probes
