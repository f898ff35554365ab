// SPDX-License-Identifier: GPL-2.0-or-later
// A system bus that hangs: a real socket whose other end accepts, or does not, and sends nothing.
#include "probes/systemd.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "agent/base/clock.hpp"
#include "agent/base/handle.hpp"
#include "probes/link_owner.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

// A system with a bus and NetworkManager; the links of two adapters are looked at, as in one look.
struct HungBus {
  test::Tree tree;
  Fd listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};

  HungBus() {
    for (const char* service : {"dbus.service", "NetworkManager.service"})
      tree.link(std::string{"/run/systemd/units/invocation:"} + service, "0123");
    const std::string path = tree / "/bus";
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    REQUIRE(::bind(listening.get(), name(), sizeof address) == 0);
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
  }
  HungBus(const HungBus&) = delete;
  HungBus& operator=(const HungBus&) = delete;
  HungBus(HungBus&&) = delete;
  HungBus& operator=(HungBus&&) = delete;
  ~HungBus() { ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS"); }

  [[nodiscard]] const sockaddr* name() const { return reinterpret_cast<const sockaddr*>(&address); }
  // Also asks about the units of three scripts. Returns the errno of the links' owner.
  [[nodiscard]] int look() const {
    SystemBus bus{tree.root()};
    const BootTime begun = BootClock::now();
    for (int unit = 0; unit < 3; ++unit) CHECK_FALSE(unit_is_in_motion(bus, "rc-local.service"));
    const auto one = network_manager_owner(tree.root(), "ens16f0", bus);
    const auto other = network_manager_owner(tree.root(), "ens17f0", bus);
    CHECK(BootClock::now() - begun < std::chrono::seconds{5});
    REQUIRE(one.is_unreadable());
    CHECK(one == other);
    return one.error()->code;
  }
};

}  // namespace

TEST_CASE_METHOD(HungBus, "a bus that does not even accept is left alone after half a second") {
  REQUIRE(::listen(listening.get(), 16) == 0);
  CHECK(look() == ETIMEDOUT);
  // The whole look uses one connection.
  ::fcntl(listening.get(), F_SETFL, O_NONBLOCK);
  const Fd only{::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  CHECK(only);
  CHECK(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC) == -1);
  CHECK(errno == EAGAIN);
}

TEST_CASE_METHOD(HungBus, "a bus whose queue of connections is full is not waited for") {
  REQUIRE(::listen(listening.get(), 0) == 0);
  std::vector<Fd> queue;
  for (;;) {
    queue.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(queue.back().get(), name(), sizeof address) != 0) break;
  }
  REQUIRE(errno == EAGAIN);
  CHECK(look() == EAGAIN);
}

TEST_CASE_METHOD(HungBus, "a bus that authenticates and does not say hello is left alone") {
  REQUIRE(::listen(listening.get(), 16) == 0);
  // Accepts one connection, and keeps it until the look has ended.
  std::thread peer{[this] {
    const Fd connection{::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    constexpr std::string_view kWelcome =
        "DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n";
    static_cast<void>(::send(connection.get(), kWelcome.data(), kWelcome.size(), MSG_NOSIGNAL));
    std::array<char, 512> bytes{};
    while (::recv(connection.get(), bytes.data(), bytes.size(), 0) > 0) continue;
  }};
  CHECK(look() == ETIMEDOUT);
  peer.join();
}

}  // namespace pvrdma::probes
