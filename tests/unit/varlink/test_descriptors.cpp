// SPDX-License-Identifier: GPL-2.0-or-later
// Clients that pass descriptors whose last close waits: no other client waits for it.
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>

#include "agent/varlink/closing.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

// A TCP connection whose last close waits for three seconds, as its other end reads nothing. When
// this object goes, the other end goes, and the wait is over.
struct Lingering {
  Lingering() : other_end{tcp()}, connection{tcp()} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    REQUIRE(::bind(other_end.get(), any, size) == 0);
    REQUIRE(::listen(other_end.get(), 1) == 0);
    REQUIRE(::getsockname(other_end.get(), any, &size) == 0);
    REQUIRE(::connect(connection.get(), any, size) == 0);
    const std::string data(65536, 'x');
    while (::send(connection.get(), data.data(), data.size(), MSG_DONTWAIT) > 0) {
    }
    const linger three_seconds{1, 3};
    REQUIRE(::setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &three_seconds,
                         sizeof three_seconds) == 0);
  }
  static Fd tcp() { return Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }

  Fd other_end, connection;
};

// Sends the bytes with this descriptor, and then closes it, so that the receiver's close is the
// last. Returns whether they were sent.
bool pass(int socket, std::string bytes, Fd descriptor, int flags = 0) {
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int passed = descriptor.get();
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | flags) == static_cast<ssize_t>(bytes.size());
}

// A service whose second socket takes descriptors, as every socket does before Linux 6.16.
struct Scene : ServiceFixture {
  explicit Scene(const varlink::Limits& limits = {}) : ServiceFixture(limits) {
    auto bound = varlink::listening_socket(open_path, 0666);
    REQUIRE(bound);
    const Fd same{::dup(bound->get())};
    REQUIRE(service.listen_on(std::move(*bound)));
    varlink::allow_descriptors(same, true);
  }
  [[nodiscard]] RawClient passing() const { return {loop, open_path}; }
  [[nodiscard]] RawClient passing_as_nobody() const {
    const AsNobody nobody;
    return passing();
  }
  bool answers_within_a_second(RawClient other) {
    const auto start = std::chrono::steady_clock::now();
    const bool answered = other.ask(kHello) == kHelloReply;
    return answered && std::chrono::steady_clock::now() - start < 1s;
  }

  std::string open_path = directory / "open";
};

}  // namespace

TEST_CASE("the kernel refuses descriptors where it can") {
  const ServiceFixture fixture;
  Lingering lingering;
  const auto client = fixture.client();
  int allowed = 1;
  socklen_t size = sizeof allowed;
  constexpr int kPassRights = 83;  // SO_PASSRIGHTS, Linux 6.16
  if (::getsockopt(client.fd(), SOL_SOCKET, kPassRights, &allowed, &size) != 0) return;
  CHECK_FALSE(pass(client.fd(), "x", std::move(lingering.connection)));
}

TEST_CASE("a passed descriptor whose close waits holds up no other client") {
  Lingering lingering;
  varlink::Limits limits;
  limits.clients_per_uid = 1;
  Scene scene{limits};
  auto client = scene.passing();
  const std::string watch = request("Watch", "{}", R"(,"more":true)") + '\0';
  SECTION("with the first byte") {
    REQUIRE(pass(client.fd(), "x", std::move(lingering.connection)));
  }
  SECTION("behind a whole request") {
    REQUIRE(client.send_some(watch) == watch.size());
    REQUIRE(pass(client.fd(), "x", std::move(lingering.connection)));
  }
  SECTION("with an urgent byte") {
    REQUIRE(pass(client.fd(), "x", std::move(lingering.connection), MSG_OOB));
  }
  const auto leave_unread = [&](int flags) {
    REQUIRE(client.send(watch));
    REQUIRE(scene.loop.run_until([&] { return scene.kept.size() == 1; }));
    REQUIRE(client.call(kHello));
    for (int round = 0; round < 10; ++round) sd_event_run(scene.loop.get(), 1'000);
    REQUIRE(pass(client.fd(), "x", std::move(lingering.connection), flags));
    client.leave();
  };
  SECTION("behind a request that waits, by a client that leaves") { leave_unread(0); }
  SECTION("the same with an urgent byte") { leave_unread(MSG_OOB); }
  SECTION("by a client that is not accepted") {
    if (::geteuid() != 0) return;
    auto first = scene.passing_as_nobody();
    REQUIRE(first.ask(kHello) == kHelloReply);
    auto second = scene.passing_as_nobody();
    REQUIRE(pass(second.fd(), "x", std::move(lingering.connection)));
    CHECK(scene.answers_within_a_second(scene.client()));
    CHECK(second.is_cut_off());
    CHECK(first.ask(kHello) == kHelloReply);
    return;
  }
  CHECK(scene.answers_within_a_second(scene.client()));
  CHECK((client.fd() < 0 || client.is_cut_off()));
  CHECK(scene.loop.run_until([&] { return scene.service.clients() == 0; }));
}

TEST_CASE("the end of a service waits for no passed descriptor") {
  Lingering lingering;
  std::optional<Scene> scene{std::in_place};
  const Fd client{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, scene->open_path.c_str());
  auto* const place = reinterpret_cast<const sockaddr*>(&address);
  REQUIRE(::connect(client.get(), place, sizeof address) == 0);
  const std::string watch = request("Watch", "{}", R"(,"more":true)") + '\0' + kHello + '\0';
  REQUIRE(::send(client.get(), watch.data(), watch.size(), 0) ==
          static_cast<ssize_t>(watch.size()));
  REQUIRE(scene->loop.run_until([&] { return scene->kept.size() == 1; }));
  for (int round = 0; round < 10; ++round) sd_event_run(scene->loop.get(), 1'000);
  REQUIRE(pass(client.get(), "x", std::move(lingering.connection)));
  const auto start = std::chrono::steady_clock::now();
  scene.reset();
  CHECK(std::chrono::steady_clock::now() - start < 1s);
}

TEST_CASE("sockets with passed descriptors do not pile up, and each is closed") {
  std::array<Lingering, 3> lingering;
  const auto open_here = [] {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return std::distance(begin(all), end(all));
  };
  for (auto& [other_end, connection] : lingering) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    Fd ours{ends[0]};
    const Fd theirs{ends[1]};
    REQUIRE(pass(theirs.get(), "x", std::move(connection)));
    const auto before = open_here();
    const auto start = std::chrono::steady_clock::now();
    varlink::close_client(std::move(ours));
    CHECK(std::chrono::steady_clock::now() - start < 1s);
    CHECK(open_here() == before - 1);
    // The other process has closed its copy, too.
    pollfd closed{theirs.get(), 0, 0};
    CHECK(::poll(&closed, 1, 1'000) == 1);
  }
}
