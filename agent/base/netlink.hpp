// SPDX-License-Identifier: GPL-2.0-or-later
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

// Reads an answer, which may come in several datagrams, to its end.
//
// The end is waited for whatever was wrong on the way: the kernel goes on with a dump that is left
// half read, and refuses the socket's next question (EBUSY, or ENOBUFS; Linux
// net/netlink/af_netlink.c, __netlink_dump_start() and netlink_dump()).
class AnswerReader {
 public:
  // `take` gets the data messages that belong to question `sequence`; it must outlive the reader.
  AnswerReader(std::uint32_t sequence, const OnMessage& take) : sequence_(sequence), take_(take) {}

  // True where the answer ends with this datagram. EBADMSG for bytes that are no netlink messages:
  // where the answer would end is then not known.
  [[nodiscard]] Result<bool> read(std::span<char> datagram);
  // Of an answer that has ended, what went wrong first: an error of `take`, EINTR for a dump that
  // changed under way and has to be asked for again, or what the kernel answered (its errno).
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
  // What a dump's question says of the entries it wants is heeded from Linux 4.20 on
  // (NETLINK_GET_STRICT_CHK); older kernels send the whole table.
  [[nodiscard]] static Result<NetlinkSocket> open(int protocol);
  // Of these groups (RTNLGRP_LINK, …), subscribed when it returns; does not block.
  [[nodiscard]] static Result<NetlinkSocket> subscribe(int protocol,
                                                       std::initializer_list<int> groups);

  // Sends `question` and reads until its answer has ended; whatever came of it, the socket may be
  // asked again. ETIMEDOUT after five seconds of silence.
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

// What `dump` returns, begun anew where the table changed under way (EINTR). Containers that come
// and go change the tables of links and addresses every few milliseconds; a dump of one link's
// takes some twenty microseconds.
template <typename Dump>
[[nodiscard]] auto consistent(const Dump& dump) {
  constexpr int kMost = 10;
  for (int attempt = 1;; ++attempt)
    if (auto answer = dump(); answer || answer.error().code != EINTR || attempt == kMost)
      return answer;
}

}  // namespace pvrdma
