// SPDX-License-Identifier: GPL-2.0-or-later
// Netlink over libnl-3: the only place that opens netlink sockets, asks questions and listens.
//
// Parsing a datagram is separate from the socket. Only messages from the kernel are read, and only
// those that answer the question. Every wait for an answer is bounded. But the kernel works on a
// question inside send(2), which cannot be bounded.
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

// Reads an answer, which may consist of several datagrams, to its end.
//
// After an error the rest of the answer is still read: the kernel goes on with a dump that is read
// only in part, and refuses the socket's next question (EBUSY, or ENOBUFS; Linux
// net/netlink/af_netlink.c, __netlink_dump_start() and netlink_dump()).
class AnswerReader {
 public:
  // `take` gets the data messages that belong to question `sequence`; it must outlive the reader.
  AnswerReader(std::uint32_t sequence, const OnMessage& take) : sequence_(sequence), take_(take) {}

  // True where the answer ends with this datagram. EBADMSG for bytes that are no netlink messages;
  // then the end of the answer is not known.
  [[nodiscard]] Result<bool> read(std::span<char> datagram);
  // The first error of an answer that has ended: an error of `take`, EINTR for a dump that changed
  // under way and has to be asked for again, or the errno in the kernel's answer.
  [[nodiscard]] const Result<void>& verdict() const { return verdict_; }

 private:
  void note(Result<void> step);
  std::uint32_t sequence_;
  const OnMessage& take_;
  Result<void> verdict_;
};

// The text of a string attribute, up to its NUL or its end.
[[nodiscard]] std::string attribute_text(nlattr* attribute);

using NetlinkMessage = Handle<nl_msg, nlmsg_free>;

// A request with the fixed header of its table. The size must be exact, as the kernel logs a
// warning about a longer header. Null: out of memory.
template <typename Header>
[[nodiscard]] NetlinkMessage netlink_message(int type, int flags, Header header) {
  NetlinkMessage message{nlmsg_alloc_simple(type, NLM_F_REQUEST | flags)};
  if (message && nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0)
    message.reset();
  return message;
}

class NetlinkSocket {
 public:
  // `protocol`: NETLINK_ROUTE, NETLINK_RDMA. EPROTONOSUPPORT: the kernel does not support it (yet).
  // From Linux 4.20 on the kernel applies the filter in a dump's question (NETLINK_GET_STRICT_CHK);
  // older kernels send the whole table.
  [[nodiscard]] static Result<NetlinkSocket> open(int protocol);
  // A non-blocking socket that is subscribed to these groups (RTNLGRP_LINK, …) when this returns.
  [[nodiscard]] static Result<NetlinkSocket> subscribe(int protocol,
                                                       std::initializer_list<int> groups);

  // Sends `question` and reads until its answer has ended. The socket can be used again after any
  // result. ETIMEDOUT after five seconds of silence.
  [[nodiscard]] Result<void> ask(nl_msg& question, const OnMessage& take);
  // Sends a message that changes something, and waits for the kernel's acknowledgement.
  [[nodiscard]] Result<void> request(nl_msg& message);

  // Hands the messages of one datagram from the groups to `take`. EAGAIN: there is none; ENOBUFS:
  // some were lost.
  [[nodiscard]] Result<void> read_events(const std::function<void(nlmsghdr&)>& take);
  [[nodiscard]] int fd() const { return nl_socket_get_fd(socket_.get()); }

 private:
  using Socket = Handle<nl_sock, nl_socket_free>;
  explicit NetlinkSocket(Socket socket) : socket_(std::move(socket)) {}
  Socket socket_;
};

// Calls `dump` again while the table changes under way (EINTR), at most ten times. Containers that
// come and go change the tables of links and addresses every few milliseconds; a dump of one link
// takes about twenty microseconds.
template <typename Dump>
[[nodiscard]] auto consistent(const Dump& dump) {
  constexpr int kMost = 10;
  for (int attempt = 1;; ++attempt)
    if (auto answer = dump(); answer || answer.error().code != EINTR || attempt == kMost)
      return answer;
}

}  // namespace pvrdma
