// Netlink over libnl-3: the one place that opens such sockets, asks and listens.
//
// The walk over a datagram's bytes is apart from the socket. What is read comes from the kernel
// alone, and answers to the question that was asked. Every wait for an answer is bounded; the
// kernel itself works on a question inside send(2), which nothing can bound.
#pragma once

#include <linux/netlink.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma {

// Takes one data message; valid during the call only.
using OnMessage = std::function<Result<void>(nlmsghdr&)>;

// Hands every data message of `datagram` that belongs to question `sequence` to `take`; true where
// the answer ends with it. Errors: what the kernel answered (its errno), EBADMSG for bytes that are
// no netlink messages, EINTR for a dump that changed under way and has to be asked for again, and
// what `take` returns.
[[nodiscard]] Result<bool> walk_datagram(std::span<char> datagram, std::uint32_t sequence,
                                         const OnMessage& take);

// The text of a string attribute, up to its NUL or its end.
[[nodiscard]] std::string attribute_text(nlattr* attribute);

using NetlinkMessage = Handle<nl_msg, nlmsg_free>;

// A request with the fixed header of its table, of that size exactly: the kernel warns in its log
// about a longer one. Null: no memory for it.
template <typename Header>
[[nodiscard]] NetlinkMessage netlink_message(int type, int flags, Header header) {
  NetlinkMessage message{nlmsg_alloc_simple(type, NLM_F_REQUEST | flags)};
  if (message && nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0)
    message.reset();
  return message;
}

class NetlinkSocket {
 public:
  // `protocol`: NETLINK_ROUTE, NETLINK_RDMA. EPROTONOSUPPORT: the kernel does not speak it (yet).
  [[nodiscard]] static Result<NetlinkSocket> open(int protocol);
  // Of these groups (RTNLGRP_LINK, …), subscribed when it returns; does not block.
  [[nodiscard]] static Result<NetlinkSocket> subscribe(int protocol,
                                                       std::initializer_list<int> groups);

  // Sends `question` and reads until its answer has ended. ETIMEDOUT after five seconds of silence.
  [[nodiscard]] Result<void> ask(nl_msg& question, const OnMessage& take);
  // Sends what changes something and waits for the kernel's acknowledgement.
  [[nodiscard]] Result<void> request(nl_msg& message);

  // Hands over the messages of one datagram of the groups. EAGAIN: there is none; ENOBUFS: some
  // were lost.
  [[nodiscard]] Result<void> read_events(const std::function<void(nlmsghdr&)>& take);
  [[nodiscard]] int fd() const { return nl_socket_get_fd(socket_.get()); }

 private:
  using Socket = Handle<nl_sock, nl_socket_free>;
  explicit NetlinkSocket(Socket socket) : socket_(std::move(socket)) {}
  Socket socket_;
};

// What `dump` returns, begun anew (three times at most) where the table changed under way (EINTR).
template <typename Dump>
[[nodiscard]] auto consistent(const Dump& dump) {
  for (int attempt = 1;; ++attempt)
    if (auto answer = dump(); answer || answer.error().code != EINTR || attempt == 3) return answer;
}

}  // namespace pvrdma
