// SPDX-License-Identifier: GPL-2.0-or-later
// Clients that pass descriptors whose last close waits: no other client waits for it.
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include "agent/varlink/client.hpp"
#include "agent/varlink/closing.hpp"
#include "agent/varlink/listening.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/passing.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

// A service whose socket takes descriptors, as every socket does before Linux 6.16.
struct Scene : ServiceFixture {
  explicit Scene(const varlink::Limits& limits = {}) : ServiceFixture(limits) {
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
      const Fd same{::dup(std::stoi(entry.path().filename()))};
      int listening = 0;
      socklen_t size = sizeof listening;
      if (::getsockopt(same.get(), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 &&
          listening != 0)
        varlink::allow_descriptors(same, true);
    }
  }
  [[nodiscard]] RawClient client_of_nobody() const {
    const AsNobody nobody;
    return client();
  }
  bool answers_at_once(RawClient other) {
    const auto start = std::chrono::steady_clock::now();
    const bool answered = other.ask(kHello) == kHelloReply;
    return answered && std::chrono::steady_clock::now() - start < 2s;
  }
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
  auto client = scene.client();
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
    auto first = scene.client_of_nobody();
    REQUIRE(first.ask(kHello) == kHelloReply);
    auto second = scene.client_of_nobody();
    REQUIRE(pass(second.fd(), "x", std::move(lingering.connection)));
    CHECK(scene.answers_at_once(scene.client()));
    CHECK(second.is_cut_off());
    CHECK(first.ask(kHello) == kHelloReply);
    return;
  }
  CHECK(scene.answers_at_once(scene.client()));
  CHECK((client.fd() < 0 || client.is_cut_off()));
  CHECK(scene.loop.run_until([&] { return scene.service.clients() == 0; }));
}

TEST_CASE("the end of a service waits for no passed descriptor") {
  Lingering lingering;
  std::optional<Scene> scene{std::in_place};
  const Fd client{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, scene->path.c_str());
  auto* const place = reinterpret_cast<const sockaddr*>(&address);
  REQUIRE(::connect(client.get(), place, sizeof address) == 0);
  SECTION("of a client") {
    const std::string watch = request("Watch", "{}", R"(,"more":true)") + '\0' + kHello + '\0';
    REQUIRE(::send(client.get(), watch.data(), watch.size(), 0) ==
            static_cast<ssize_t>(watch.size()));
    REQUIRE(scene->loop.run_until([&] { return scene->kept.size() == 1; }));
    for (int round = 0; round < 10; ++round) sd_event_run(scene->loop.get(), 1'000);
  }
  SECTION("of a client that waits to be accepted") {}
  REQUIRE(pass(client.get(), "x", std::move(lingering.connection)));
  const auto start = std::chrono::steady_clock::now();
  scene.reset();
  CHECK(std::chrono::steady_clock::now() - start < 2s);
}

TEST_CASE("a client waits for no descriptor that a server passes") {
  Lingering lingering;
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const Fd server{ends[1]};
  std::optional client{varlink::Client{varlink::PeerSocket{Fd{ends[0]}}}};
  const auto start = std::chrono::steady_clock::now();
  SECTION("with its answer") {
    REQUIRE(client->start_stream("a.b.C", varlink::Json::object()));
    REQUIRE(pass(server.get(), "x", std::move(lingering.connection)));
    const auto reply = client->next(5s);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == EPROTO);
  }
  SECTION("unasked") { REQUIRE(pass(server.get(), "x", std::move(lingering.connection))); }
  client.reset();
  CHECK(std::chrono::steady_clock::now() - start < 2s);
}

TEST_CASE("a client on the loop waits for no descriptor that a server passes") {
  Lingering lingering;
  const Loop loop;
  const TemporaryDirectory directory;
  const auto listening = varlink::listening_socket(directory / "socket", 0600);
  REQUIRE(listening);
  varlink::AsyncClient client{loop.get(), directory / "socket"};
  std::optional<int> code;
  client.call("a.b.C", varlink::Json::object(),
              [&](const Result<varlink::Reply>& reply) { code = reply ? 0 : reply.error().code; });
  const Fd server{::accept(listening->get(), nullptr, nullptr)};
  // The kernel refuses this since Linux 6.16.
  if (!pass(server.get(), "x", std::move(lingering.connection))) return;
  const auto start = std::chrono::steady_clock::now();
  CHECK(loop.run_until([&] { return code.has_value(); }));
  CHECK(code == EPROTO);
  CHECK(std::chrono::steady_clock::now() - start < 2s);
}
