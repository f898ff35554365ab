// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/netlink.hpp"

#include <netlink/attr.h>
#include <netlink/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

constexpr timeval kSilence{5, 0};

Error answer_error(int code) { return {code, "asking the kernel", "over netlink"}; }

// libnl's own error codes say less than errno, which its calls do not change.
int last_errno() { return errno != 0 ? errno : EIO; }

// Reads the code in NLMSG_ERROR or NLMSG_DONE: 0 or a negative errno, at most 4095
// (include/linux/err.h).
Result<void> outcome(nlmsghdr& message) {
  constexpr int kLargest = 4095;
  int code = 0;
  if (message.nlmsg_len >= NLMSG_LENGTH(sizeof code))
    std::memcpy(&code, NLMSG_DATA(&message), sizeof code);
  else if (message.nlmsg_type == NLMSG_ERROR)
    code = -EBADMSG;
  if (code != 0) return fail(answer_error(code < 0 && code >= -kLargest ? -code : EBADMSG));
  return {};
}

struct Datagram {
  Handle<unsigned char, std::free> bytes;
  std::size_t length = 0;
};

// The next datagram from the kernel. Datagrams from other senders are ignored.
Result<Datagram> receive(nl_sock& socket) {
  for (;;) {
    sockaddr_nl sender{};
    unsigned char* bytes = nullptr;
    errno = 0;
    const int length = nl_recv(&socket, &sender, &bytes, nullptr);
    if (length < 0) return fail(answer_error(last_errno()));
    Datagram datagram{Handle<unsigned char, std::free>{bytes}, static_cast<std::size_t>(length)};
    if (length > 0 && sender.nl_pid == 0) return datagram;
  }
}

}  // namespace

Result<bool> AnswerReader::read(std::span<char> datagram) {
  std::size_t at = 0;
  while (datagram.size() - at >= sizeof(nlmsghdr)) {
    // The buffer is aligned for the cast, and every message starts at a multiple of four.
    auto& message = *reinterpret_cast<nlmsghdr*>(datagram.data() + at);
    if (message.nlmsg_len < sizeof(nlmsghdr) || message.nlmsg_len > datagram.size() - at)
      return fail(answer_error(EBADMSG));
    at = std::min<std::size_t>(at + NLMSG_ALIGN(message.nlmsg_len), datagram.size());
    if (message.nlmsg_seq != sequence_ || message.nlmsg_type == NLMSG_NOOP) continue;
    if ((message.nlmsg_flags & NLM_F_DUMP_INTR) != 0) note(fail(answer_error(EINTR)));
    if (message.nlmsg_type == NLMSG_ERROR || message.nlmsg_type == NLMSG_DONE) {
      note(outcome(message));
      return true;
    }
    if (verdict_) note(take_(message));
    if ((message.nlmsg_flags & NLM_F_MULTI) == 0) return true;
  }
  if (at != datagram.size()) return fail(answer_error(EBADMSG));
  return false;
}

void AnswerReader::note(Result<void> step) {
  if (verdict_ && !step) verdict_ = std::move(step);
}

std::string attribute_text(nlattr* attribute) {
  const auto* text = static_cast<const char*>(nla_data(attribute));
  return printable({text, ::strnlen(text, static_cast<std::size_t>(nla_len(attribute)))});
}

Result<NetlinkSocket> NetlinkSocket::open(int protocol) {
  Socket socket{nl_socket_alloc()};
  if (!socket) return fail(ENOMEM, "opening", "a netlink socket");
  // Otherwise every question also asks for an acknowledgement besides its answer.
  nl_socket_disable_auto_ack(socket.get());
  errno = 0;
  if (nl_connect(socket.get(), protocol) < 0 ||
      ::setsockopt(nl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &kSilence,
                   sizeof kSilence) != 0)
    return fail(last_errno(), "opening", "a netlink socket");
  // A kernel that does not know this option sends more than was asked for, which callers ignore.
  const int strictly = 1;
  static_cast<void>(::setsockopt(nl_socket_get_fd(socket.get()), SOL_NETLINK,
                                 NETLINK_GET_STRICT_CHK, &strictly, sizeof strictly));
  return NetlinkSocket{std::move(socket)};
}

Result<NetlinkSocket> NetlinkSocket::subscribe(int protocol, std::initializer_list<int> groups) {
  auto opened = open(protocol);
  if (!opened) return opened;
  nl_sock* const socket = opened->socket_.get();
  errno = 0;
  for (const int group : groups)
    if (nl_socket_add_membership(socket, group) < 0)
      return fail(last_errno(), "subscribing to", "netlink group " + std::to_string(group));
  if (nl_socket_set_nonblocking(socket) < 0)
    return fail(last_errno(), "opening", "a netlink socket");
  return opened;
}

Result<void> NetlinkSocket::ask(nl_msg& question, const OnMessage& take) {
  errno = 0;
  if (nl_send_auto(socket_.get(), &question) < 0) return fail(answer_error(last_errno()));
  AnswerReader answer{nlmsg_hdr(&question)->nlmsg_seq, take};
  for (;;) {
    const auto datagram = receive(*socket_);
    if (!datagram)
      return fail(
          answer_error(datagram.error().code == EAGAIN ? ETIMEDOUT : datagram.error().code));
    auto* const bytes = reinterpret_cast<char*>(datagram->bytes.get());
    const auto ended = answer.read(std::span{bytes, datagram->length});
    if (!ended) return fail(ended.error());
    if (*ended) return answer.verdict();
  }
}

Result<void> NetlinkSocket::request(nl_msg& message) {
  nlmsg_hdr(&message)->nlmsg_flags |= NLM_F_ACK;
  return ask(message, [](nlmsghdr&) -> Result<void> { return {}; });
}

Result<void> NetlinkSocket::read_events(const std::function<void(nlmsghdr&)>& take) {
  const auto datagram = receive(*socket_);
  if (!datagram) return fail(datagram.error());
  int left = static_cast<int>(datagram->length);
  for (auto* message = reinterpret_cast<nlmsghdr*>(datagram->bytes.get()); nlmsg_ok(message, left);
       message = nlmsg_next(message, &left))
    take(*message);
  return {};
}

}  // namespace pvrdma
