// One netlink question and its answer, over libnl-3: what the probes of rtnetlink and nldev share.
//
// The walk over a datagram's bytes is apart from the socket. Every wait for an answer is bounded;
// the kernel itself works on a question inside send(2), which nothing can bound.
#pragma once

#include <linux/netlink.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::probes {

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

class NetlinkSocket {
 public:
  // `protocol`: NETLINK_ROUTE, NETLINK_RDMA. EPROTONOSUPPORT: the kernel does not speak it (yet).
  [[nodiscard]] static Result<NetlinkSocket> open(int protocol);
  // Sends `question` and reads until its answer has ended. ETIMEDOUT after five seconds of silence.
  [[nodiscard]] Result<void> ask(nl_msg& question, const OnMessage& take);

 private:
  using Socket = Handle<nl_sock, nl_socket_free>;
  explicit NetlinkSocket(Socket socket) : socket_(std::move(socket)) {}
  Socket socket_;
};

}  // namespace pvrdma::probes
