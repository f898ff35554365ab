// SPDX-License-Identifier: GPL-2.0-or-later
// Output of ping as versions of iputils write it: 20190709 (Ubuntu 20.04), 20210202
// (Debian 11, Enterprise Linux 9), 20211215, 20221126 (Debian 12), 20240117, 20240905 (Debian 13,
// Enterprise Linux 10), each run on Linux 6.1 over the same veths.
#include "agent/tools/mtu/ping.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl::pmtu;

namespace {

const std::string kV4 = "PING 10.9.2.2 (10.9.2.2) 8972(9000) bytes of data.\n";
const std::string kV6 = "PING fd09:2::2(fd09:2::2) 8952 data bytes\n";
const std::string kPassed =
    "\n--- h ping statistics ---\n2 packets transmitted, 1 received, 50% packet loss, time 0ms\n"
    "rtt min/avg/max/mdev = 0.042/0.042/0.042/0.000 ms\n";
const std::string kFailed =
    "\n--- h ping statistics ---\n1 packets transmitted, 0 received, +1 errors, 100% packet loss, "
    "time 0ms\n\n";

}  // namespace

TEST_CASE("ping says what became of its packets") {
  struct Row {
    std::string output;
    Fate fate;
    std::string address;
    unsigned mtu;
    std::string router;
    unsigned sent;
  };
  const std::vector<Row> table{
      {kV4 + "48 bytes from 10.9.2.2: icmp_seq=2 ttl=63 time=0.042 ms\n" + kPassed, Fate::Passed,
       "10.9.2.2", 0, "", 2},
      {"PING db1 (10.9.2.2) from 10.9.1.1 l1: 40(68) bytes of data.\n" + kPassed, Fate::Passed,
       "10.9.2.2", 0, "", 2},
      {kV6 + kPassed, Fate::Passed, "fd09:2::2", 0, "", 2},
      {"PING fe80::1%l1 (fe80::1%l1) from fe80::2%l1 l1: 40 data bytes\n" + kPassed, Fate::Passed,
       "fe80::1%l1", 0, "", 2},  // 20240117 and later
      {kV4 + kFailed, Fate::Silent, "10.9.2.2", 0, "", 1},
      {kV4 + "From 10.9.1.2 icmp_seq=1 Frag needed and DF set (mtu = 1500)\n" + kFailed,
       Fate::Refused, "10.9.2.2", 1500, "10.9.1.2", 1},
      {kV6 + "From fd09:1::2 icmp_seq=1 Packet too big: mtu=1500\n" + kFailed, Fate::Refused,
       "fd09:2::2", 1500, "fd09:1::2", 1},
      {kV4 + "ping: local error: message too long, mtu=1500\n" + kFailed, Fate::TooLargeHere,
       "10.9.2.2", 1500, "", 0},
      {kV4 + "ping: local error: Message too long, mtu=1500\n" + kFailed, Fate::TooLargeHere,
       "10.9.2.2", 1500, "", 0},  // 20180629 and earlier
      {kV6 + "ping: local error: message too long, mtu: 1500\n" + kFailed, Fate::TooLargeHere,
       "fd09:2::2", 1500, "", 0},
      {kV4 + "ping: sendmsg: Message too long\n" + kFailed, Fate::TooLargeHere, "10.9.2.2", 0, "",
       0},  // 20240905
  };
  for (const Row& row : table) {
    INFO(row.output);
    const auto reply = reply_in(row.output);
    REQUIRE(reply);
    CHECK(reply->fate == row.fate);
    CHECK(reply->address == row.address);
    CHECK(reply->mtu == row.mtu);
    CHECK(reply->router == row.router);
    CHECK(reply->sent == row.sent);
    CHECK(reply->unreachable.empty());
  }
}

TEST_CASE("ping says that a host cannot be reached, or why it sent nothing") {
  const auto reply =
      reply_in(kV4 + "From 10.9.1.1 icmp_seq=1 Destination Host Unreachable\n" + kFailed);
  REQUIRE(reply);
  CHECK(reply->fate == Fate::Silent);
  CHECK(reply->unreachable == "10.9.1.1 says: Destination Host Unreachable");
  const auto error = [](const std::string& output) {
    const auto failed = reply_in(output);
    REQUIRE_FALSE(failed);
    return failed.error().message();
  };
  CHECK(error("/usr/bin/ping: nosuch.invalid: Name or service not known\n") ==
        "ping says /usr/bin/ping: nosuch.invalid: Name or service not known");
  CHECK(error("").find("nothing") != std::string::npos);
  for (const char* const no_right :
       {"ping: socket: Operation not permitted\n",
        "ping: socktype: SOCK_RAW\nping: socket: Operation not permitted\n"
        "ping: => missing cap_net_raw+p capability or setuid?\n"})
    CHECK(error(no_right).find("net.ipv4.ping_group_range") != std::string::npos);
  // Whatever it is, it is no answer.
  for (const char* const odd : {"PING ", "PING x (", "From \n", "1 packets transmitted, \n",
                                "From x icmp_seq=\n", "mtu message too long"})
    static_cast<void>(reply_in(odd));
}
