// SPDX-License-Identifier: GPL-2.0-or-later
// Sending to the journal and to the service manager never blocks: each is a real socket here that
// is not read for a while.
#include "agent/base/journal.hpp"

#include <sys/resource.h>

#include <chrono>

#include "agent/base/clock.hpp"
#include "agent/base/notify.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/notified.hpp"

using namespace pvrdma;

namespace {

// More than any queue of datagrams holds (net.unix.max_dgram_qlen; systemd sets 512).
constexpr int kFlood = 3000;

const std::string kIdentifier = std::string{"SYSLOG_IDENTIFIER="} + program_invocation_short_name;

}  // namespace

TEST_CASE("an entry is sent in the journal's own protocol") {
  const test::Manager journald;
  log::Journal journal{journald.address()};
  journal.send({"MESSAGE=one", "PRIORITY=6", "PVRDMA_ADAPTER=0000:13:00.1"});
  journal.tell_dropped();
  CHECK(journald.heard() ==
        std::vector<std::string>{kIdentifier +
                                 "\nMESSAGE=one\nPRIORITY=6\nPVRDMA_ADAPTER=0000:13:00.1\n"});
}

TEST_CASE(
    "a journal that does not read is not waited for, and is told how many entries it missed") {
  const test::Manager journald;
  log::Journal journal{journald.address()};
  const BootTime begun = BootClock::now();
  for (int i = 0; i < kFlood; ++i) journal.send({"MESSAGE=an entry of usual length"});
  journal.tell_dropped();
  CHECK(BootClock::now() - begun < std::chrono::seconds{10});
  const auto taken = journald.heard().size();
  REQUIRE(taken > 0);
  REQUIRE(taken < kFlood);
  const std::string missed = std::to_string(kFlood - static_cast<int>(taken));
  const auto told = [&](const std::vector<std::string>& heard) {
    REQUIRE_FALSE(heard.empty());
    CHECK(heard[0] == kIdentifier + "\nMESSAGE=" + missed +
                          " entries were dropped, as the journal did not take them\nPRIORITY=4\n"
                          "MESSAGE_ID=268bd17e7ee2406cb33f35edc24252ce\nPVRDMA_DROPPED=" +
                          missed + "\n");
  };
  SECTION("before the next entry, and once") {
    journal.send({"MESSAGE=again"});
    journal.send({"MESSAGE=and again"});
    const auto heard = journald.heard();
    CHECK(heard.size() == 3);
    told(heard);
  }
  SECTION("or when asked to tell") {
    journal.tell_dropped();
    journal.tell_dropped();
    const auto heard = journald.heard();
    CHECK(heard.size() == 1);
    told(heard);
  }
}

TEST_CASE("a process without a free descriptor can still log and tell its state") {
  const test::Manager service;
  log::Journal journal{service.address()};
  journal.send({"MESSAGE=one"});
  notify("STATUS", "one");
  REQUIRE(service.heard().size() == 2);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  journal.send({"MESSAGE=two"});
  notify("STATUS", "two");
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(service.heard() == std::vector<std::string>{kIdentifier + "\nMESSAGE=two\n", "STATUS=two"});
}

TEST_CASE("the next journal is told how many entries a missing one lost") {
  const test::Tree tree;
  log::Journal journal{tree / "/nothing"};
  journal.send({"MESSAGE=lost"});
  const test::Manager journald;
  const std::string address = journald.address();
  REQUIRE(::link(address.c_str(), (tree / "/nothing").c_str()) == 0);
  journal.send({"MESSAGE=kept"});
  REQUIRE(journald.heard().size() == 2);
}

TEST_CASE("a service manager that does not read is not waited for, and gets the newest state") {
  const test::Manager manager;
  const BootTime begun = BootClock::now();
  for (int i = 0; i < kFlood; ++i) notify("STATUS", std::to_string(i));
  notify("READY", "1");
  notify("WATCHDOG", "1");
  CHECK(BootClock::now() - begun < std::chrono::seconds{10});
  CHECK(manager.heard().size() < kFlood);
  notify("WATCHDOG", "1");
  CHECK(manager.heard() ==
        std::vector<std::string>{"STATUS=" + std::to_string(kFlood - 1), "READY=1", "WATCHDOG=1"});
}

TEST_CASE("an impossible socket address is an error, and an abstract name works") {
  DatagramSender sender;
  CHECK(sender.send("", "x") == EINVAL);
  CHECK(sender.send(std::string(108, 'x'), "x") == EINVAL);
  CHECK(sender.send("/no/such/socket", "x") == ENOENT);
  const Fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The kernel chooses an abstract name of five characters (unix(7), autobind).
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family) ==
          0);
  socklen_t length = sizeof address;
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  const std::string name{address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1};
  CHECK(sender.send("@" + name, "hello") == 0);
  std::array<char, 16> bytes{};
  CHECK(::recv(socket.get(), bytes.data(), bytes.size(), 0) == 5);
}
