// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/netlink.hpp"

#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "tests/unit/catch.hpp"
#include "tests/unit/executor/netns.hpp"
#include "tests/unit/netlink_bytes.hpp"

using namespace pvrdma;
using pvrdma::test::Bytes;

namespace {

// A message of `type` with one word of payload.
std::string message(std::uint16_t type, std::uint16_t flags, int payload,
                    std::uint32_t sequence = test::kSequence) {
  nlmsghdr header{};
  header.nlmsg_len = sizeof header + sizeof payload;
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = sequence;
  std::string bytes(header.nlmsg_len, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &payload, sizeof payload);
  return bytes;
}

struct Walk {
  Result<bool> ended;
  Result<void> verdict;
  int messages = 0;
};

Walk walk(const std::string& datagram) {
  Bytes bytes{datagram};
  Walk result{false, {}, 0};
  const OnMessage count = [&](nlmsghdr&) {
    ++result.messages;
    return Result<void>{};
  };
  AnswerReader reader{test::kSequence, count};
  result.ended = reader.read(bytes.span());
  result.verdict = reader.verdict();
  return result;
}

constexpr std::uint16_t kData = 100;

}  // namespace

TEST_CASE("an answer ends with its only message, or with NLMSG_DONE") {
  CHECK(walk(message(kData, 0, 1)).ended == true);
  const Walk part = walk(message(kData, NLM_F_MULTI, 1) + message(kData, NLM_F_MULTI, 2));
  CHECK(part.ended == false);
  CHECK(part.messages == 2);
  const Walk whole = walk(message(kData, NLM_F_MULTI, 1) + message(NLMSG_DONE, NLM_F_MULTI, 0));
  CHECK(whole.ended == true);
  CHECK(whole.messages == 1);
  CHECK(walk("").ended == false);
}

TEST_CASE("the kernel's errno is kept") {
  for (const std::uint16_t type : {std::uint16_t{NLMSG_ERROR}, std::uint16_t{NLMSG_DONE}}) {
    const Walk refused = walk(message(type, 0, -ENODEV));
    CHECK(refused.ended == true);
    REQUIRE_FALSE(refused.verdict);
    CHECK(refused.verdict.error().code == ENODEV);
  }
  // An errno of 0 is an acknowledgement.
  CHECK(walk(message(NLMSG_ERROR, 0, 0)).ended == true);
  CHECK(walk(message(NLMSG_ERROR, 0, 0)).verdict.has_value());
}

TEST_CASE("a number that is no errno of the kernel is a bad message") {
  for (const int code :
       {std::numeric_limits<int>::min(), -4096, 1, std::numeric_limits<int>::max()})
    for (const std::uint16_t type : {std::uint16_t{NLMSG_ERROR}, std::uint16_t{NLMSG_DONE}}) {
      const Walk refused = walk(message(type, 0, code));
      REQUIRE_FALSE(refused.verdict);
      CHECK(refused.verdict.error().code == EBADMSG);
    }
}

TEST_CASE("an interrupted dump is no answer, and is read to its end") {
  const std::string changed = message(kData, NLM_F_MULTI | NLM_F_DUMP_INTR, 1);
  const Walk part = walk(changed + message(kData, NLM_F_MULTI, 2));
  CHECK(part.ended == false);
  const Walk whole = walk(changed + message(NLMSG_DONE, NLM_F_MULTI, 0));
  CHECK(whole.ended == true);
  REQUIRE_FALSE(whole.verdict);
  CHECK(whole.verdict.error().code == EINTR);
  CHECK(walk(message(kData, NLM_F_MULTI, 1) + message(NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, 0))
            .verdict.error()
            .code == EINTR);
}

TEST_CASE("an answer to another question is passed over") {
  const Walk other = walk(message(kData, 0, 1, test::kSequence + 1) +
                          message(NLMSG_ERROR, 0, -EPERM, test::kSequence + 1));
  CHECK(other.ended == false);
  CHECK(other.messages == 0);
}

TEST_CASE("bytes that are no messages are an error") {
  const std::string good = message(kData, NLM_F_MULTI, 1);
  std::string too_long = good;
  too_long[0] = 21;
  std::string too_short = good;
  too_short[0] = 15;
  std::string empty = good;
  empty[0] = 0;
  for (const std::string& bad : {good.substr(0, 3), good.substr(0, 19), good + "x", too_long,
                                 too_short, empty, std::string(64, '\xff')}) {
    const Walk walked = walk(bad);
    REQUIRE_FALSE(walked.ended);
    CHECK(walked.ended.error().code == EBADMSG);
  }
  CHECK_FALSE(
      walk(message(NLMSG_ERROR, 0, -1).replace(0, 1, 1, '\x10').substr(0, 16)).verdict.has_value());
}

TEST_CASE("after an error of the taker the rest is read, but not handed to it") {
  Bytes bytes{message(kData, NLM_F_MULTI, 1) + message(kData, NLM_F_MULTI, 2) +
              message(NLMSG_DONE, NLM_F_MULTI, -EIO)};
  int taken = 0;
  const OnMessage refuse = [&](nlmsghdr&) -> Result<void> {
    ++taken;
    return fail(EBADMSG, "reading", "it");
  };
  AnswerReader reader{test::kSequence, refuse};
  CHECK(reader.read(bytes.span()) == true);
  CHECK(reader.verdict().error().code == EBADMSG);
  CHECK(taken == 1);
}

TEST_CASE("a protocol the kernel does not speak keeps its errno") {
  const auto socket = NetlinkSocket::open(31);
  REQUIRE_FALSE(socket);
  CHECK(socket.error().code == EPROTONOSUPPORT);
}

namespace {

NetlinkMessage question_about(int index) {
  ifinfomsg header{};
  header.ifi_index = index;
  return netlink_message(RTM_GETLINK, 0, header);
}

int index_in(nlmsghdr& message) {
  return static_cast<const ifinfomsg*>(nlmsg_data(&message))->ifi_index;
}

}  // namespace

TEST_CASE("one question after the other, a refused one too, each with its own answer") {
  const test::Namespace isolated;
  if (!isolated.entered()) return;
  test::run("ip link add v0 type veth peer name v1");
  auto socket = NetlinkSocket::open(NETLINK_ROUTE);
  REQUIRE(socket);
  for (const char* name : {"v0", "v1"}) {
    std::set<int> seen;
    REQUIRE(socket->ask(*question_about(test::index_of_link(name)), [&](nlmsghdr& message) {
      seen.insert(index_in(message));
      return Result<void>{};
    }));
    CHECK(seen == std::set<int>{test::index_of_link(name)});
    const auto refused =
        socket->ask(*question_about(99'999), [](nlmsghdr&) { return Result<void>{}; });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message() == "asking the kernel over netlink: No such device");
  }
  CHECK(socket->request(*question_about(test::index_of_link("v0"))));
}

namespace {

// A network namespace with 500 addresses, more than a datagram holds, and a socket in it.
struct LargeTable {
  test::Namespace space;
  std::optional<NetlinkSocket> socket;

  LargeTable() {
    if (!space.entered()) return;
    test::run(
        "ip link set lo up; for i in $(seq 1 250); do for k in 1 2; do "
        "echo address add 10.$k.0.$i/32 dev lo; done; done | ip -batch -");
    auto opened = NetlinkSocket::open(NETLINK_ROUTE);
    REQUIRE(opened.has_value());
    socket.emplace(std::move(*opened));
  }
  Result<void> dump(const OnMessage& take) {
    return socket->ask(*netlink_message(RTM_GETADDR, NLM_F_DUMP, ifaddrmsg{}), take);
  }
  Result<int> count(const std::function<void()>& at_first = {}) {
    int seen = 0;
    const auto asked = dump([&](nlmsghdr& message) -> Result<void> {
      if (seen == 0 && at_first) at_first();
      if (static_cast<const ifaddrmsg*>(nlmsg_data(&message))->ifa_family == AF_INET) ++seen;
      return {};
    });
    return asked.map([&] { return seen; });
  }
};

}  // namespace

TEST_CASE_METHOD(LargeTable, "a table that is larger than any datagram is read to its end") {
  if (socket) CHECK(count() == 501);
}

TEST_CASE_METHOD(LargeTable,
                 "a dump during which the table changes is repeated on the same socket") {
  if (!socket) return;
  int begun = 0;
  CHECK(consistent([&] {
          return count([&] {
            if (++begun == 1) test::run("ip address add 10.3.0.1/32 dev lo");
          });
        }) == 502);
  CHECK(begun == 2);
}

TEST_CASE_METHOD(LargeTable, "a table that changes during each dump is given up after ten") {
  if (!socket) return;
  int begun = 0;
  const auto changing = consistent([&] {
    return count(
        [&] { test::run("ip address add 10.4.0." + std::to_string(++begun) + "/32 dev lo"); });
  });
  REQUIRE_FALSE(changing);
  CHECK(changing.error().code == EINTR);
  CHECK(begun == 10);
  CHECK(count() == 511);
}

TEST_CASE_METHOD(LargeTable, "a socket stays usable after an answer that was not understood") {
  if (!socket) return;
  for (int times = 0; times < 3; ++times)
    CHECK(dump([](nlmsghdr&) { return fail(EBADMSG, "reading", "it"); }).error().code == EBADMSG);
  CHECK(count() == 501);
}

TEST_CASE("events of a group, from the kernel only") {
  const test::Namespace isolated;
  if (!isolated.entered()) return;
  auto news = NetlinkSocket::subscribe(NETLINK_ROUTE, {RTNLGRP_LINK});
  REQUIRE(news);
  std::set<int> seen;
  const auto read = [&] {
    return news->read_events([&](nlmsghdr& message) { seen.insert(index_in(message)); });
  };
  CHECK(read().error().code == EAGAIN);
  test::run("ip link add v0 type veth peer name v1");
  while (read()) continue;
  CHECK(seen == std::set{test::index_of_link("v0"), test::index_of_link("v1")});

  // Root may send to any user's socket.
  sockaddr_nl here{};
  socklen_t length = sizeof here;
  REQUIRE(::getsockname(news->fd(), reinterpret_cast<sockaddr*>(&here), &length) == 0);
  const Fd forger{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  const std::string forged = message(RTM_NEWLINK, 0, 1);
  here.nl_groups = 0;
  REQUIRE(::sendto(forger.get(), forged.data(), forged.size(), 0,
                   reinterpret_cast<const sockaddr*>(&here), sizeof here) > 0);
  pollfd readable{news->fd(), POLLIN, 0};
  REQUIRE(::poll(&readable, 1, 1000) == 1);
  seen.clear();
  CHECK(read().error().code == EAGAIN);
  CHECK(seen.empty());

  // More events than the socket's buffer holds.
  test::run("for i in $(seq 1 4000); do echo link set lo mtu $((1000 + i)); done | ip -batch -");
  int code = 0;
  while (code != EAGAIN && code != ENOBUFS)
    if (const auto one = read(); !one) code = one.error().code;
  CHECK(code == ENOBUFS);
}
