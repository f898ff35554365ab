// SPDX-License-Identifier: GPL-2.0-or-later
// Clients that pass descriptors whose last close waits: no other client waits for it.
#include <netinet/in.h>

#include <array>

#include "agent/varlink/closing.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

const std::string kQuestion = request("Echo", R"({"text":"a"})");
constexpr const char* kAnswer = R"({"parameters":{"text":"a"}})";

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
    const bool answered = other.ask(kQuestion) == kAnswer;
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
    REQUIRE(client.call(kQuestion));
    for (int round = 0; round < 10; ++round) sd_event_run(scene.loop.get(), 1'000);
    REQUIRE(pass(client.fd(), "x", std::move(lingering.connection), flags));
    client.leave();
  };
  SECTION("behind a request that waits, by a client that leaves") { leave_unread(0); }
  SECTION("the same with an urgent byte") { leave_unread(MSG_OOB); }
  SECTION("by a client that is not accepted") {
    if (::geteuid() != 0) return;
    auto first = scene.passing_as_nobody();
    REQUIRE(first.ask(kQuestion) == kAnswer);
    auto second = scene.passing_as_nobody();
    REQUIRE(pass(second.fd(), "x", std::move(lingering.connection)));
    CHECK(scene.answers_within_a_second(scene.client()));
    CHECK(second.is_cut_off());
    CHECK(first.ask(kQuestion) == kAnswer);
    return;
  }
  CHECK(scene.answers_within_a_second(scene.client()));
  CHECK((client.fd() < 0 || client.is_cut_off()));
  CHECK(scene.loop.run_until([&] { return scene.service.clients() == 0; }));
}

TEST_CASE("a user gets no connection while one of his waits to be closed") {
  if (::geteuid() != 0) return;
  varlink::Limits limits;
  limits.clients = 2;
  Scene scene{limits};
  std::optional<Lingering> lingering{std::in_place};
  auto client = scene.passing_as_nobody();
  REQUIRE(pass(client.fd(), "x", std::move(lingering->connection)));
  CHECK(client.is_cut_off());
  CHECK(scene.passing_as_nobody().is_cut_off());
  constexpr uid_t kOther = 65533;
  const auto other = [&] {
    const AsNobody another{kOther};
    return scene.passing();
  };
  auto first = other();
  CHECK(first.ask(kQuestion) == kAnswer);
  // The connection that waits still takes one of the two places.
  CHECK(other().is_cut_off());
  CHECK(scene.answers_within_a_second(scene.client()));
  lingering.reset();
  CHECK(scene.loop.run_until([&] { return scene.passing_as_nobody().ask(kQuestion) == kAnswer; }));
}

TEST_CASE("four users' sockets are closed at a time, those of further users wait") {
  varlink::Closing closing;
  std::array<std::optional<Lingering>, 5> lingering;
  for (std::size_t user = 0; user < lingering.size(); ++user) {
    lingering.at(user).emplace();
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const Fd theirs{ends[1]};
    REQUIRE(pass(theirs.get(), "x", std::move(lingering.at(user)->connection)));
    closing.close(Fd{ends[0]}, static_cast<uid_t>(user));
  }
  CHECK(closing.size() == 5);
  lingering[4].reset();
  ::usleep(100'000);
  CHECK(closing.closes_for(4));
  lingering[0].reset();
  const Loop loop;
  CHECK(loop.run_until([&] { return !closing.closes_for(0) && !closing.closes_for(4); }, 2s));
  CHECK(closing.closes_for(1));
  CHECK(closing.size() == 3);
}
