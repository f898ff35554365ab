// SPDX-License-Identifier: GPL-2.0-or-later
// Clients of several users, as the kernel tells them apart: none shuts out another.
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/crowd.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

// A client that sends nothing more, and does not count as idle.
const std::string kSilentWatch = request("Watch", "{}", R"(,"more":true)");

constexpr uid_t kOne = 60001;
constexpr uid_t kTwo = 60002;

varlink::Limits limits_of(std::size_t clients, std::size_t clients_per_uid) {
  varlink::Limits limits;
  limits.clients = clients;
  limits.clients_per_uid = clients_per_uid;
  return limits;
}

bool is_served(const ServiceFixture& fixture) {
  auto client = fixture.client();
  return client.ask(kHello) == kHelloReply;
}

bool nobody_is_served(const ServiceFixture& fixture) {
  const AsNobody nobody;
  return is_served(fixture);
}

}  // namespace

TEST_CASE("eight users are needed to take all places") {
  CHECK(varlink::Limits{}.clients_per_uid * 8 <= varlink::Limits{}.clients);
}

TEST_CASE("two users with silent watches shut out neither a third, nor root") {
  const ServiceFixture fixture{limits_of(16, 8)};
  const Crowd one{fixture.loop, fixture.path, kOne, 20, kSilentWatch};
  const Crowd two{fixture.loop, fixture.path, kTwo, 20, kSilentWatch};
  CHECK(one.listening() == 8);
  CHECK(two.listening() == 8);
  CHECK(nobody_is_served(fixture));
  CHECK(is_served(fixture));
  // Only as many clients were evicted as needed.
  CHECK(one.listening() + two.listening() == 15);
}

TEST_CASE("a late user gets an equal share, and no more") {
  const ServiceFixture fixture{limits_of(12, 12)};
  const Crowd one{fixture.loop, fixture.path, kOne, 12, kSilentWatch};
  CHECK(one.listening() == 12);
  const Crowd two{fixture.loop, fixture.path, kTwo, 12, kSilentWatch};
  CHECK(one.listening() == 6);
  CHECK(two.listening() == 6);
  const Crowd more{fixture.loop, fixture.path, kOne, 3, kSilentWatch};
  CHECK(more.listening() == 0);
  CHECK(one.listening() == 6);
  CHECK(two.listening() == 6);
}

TEST_CASE("a user with subordinate uids, one client each, does not shut out other users") {
  const ServiceFixture fixture{limits_of(16, 8)};
  std::vector<std::unique_ptr<Crowd>> one;
  const auto listening = [&one] {
    return std::accumulate(one.begin(), one.end(), 0,
                           [](int sum, const auto& crowd) { return sum + crowd->listening(); });
  };
  for (uid_t uid = 100000; uid < 100017; ++uid)
    one.push_back(std::make_unique<Crowd>(fixture.loop, fixture.path, uid, 1, kSilentWatch));
  CHECK(listening() == 16);
  CHECK(nobody_is_served(fixture));
  CHECK(listening() == 15);
  const Crowd two{fixture.loop, fixture.path, kTwo, 8, kSilentWatch};
  CHECK(two.listening() == 8);
  CHECK(listening() == 8);
}

TEST_CASE("ordinary users, who are in one block of uids, keep their places") {
  const ServiceFixture fixture{limits_of(2, 1)};
  const Crowd one{fixture.loop, fixture.path, kOne, 1, kSilentWatch};
  const Crowd two{fixture.loop, fixture.path, kTwo, 1, kSilentWatch};
  CHECK_FALSE(nobody_is_served(fixture));
  CHECK(one.listening() == 1);
  CHECK(two.listening() == 1);
}

TEST_CASE("the service's own user always finds a place, as root does") {
  std::optional<ServiceFixture> fixture;
  {
    const AsNobody nobody;
    fixture.emplace(limits_of(2, 1));
  }
  const Crowd one{fixture->loop, fixture->path, kOne, 3, kSilentWatch};
  const Crowd two{fixture->loop, fixture->path, kTwo, 3, kSilentWatch};
  const Crowd own{fixture->loop, fixture->path, AsNobody::kUid, 5, kSilentWatch};
  const Crowd root{fixture->loop, fixture->path, 0, 5, kSilentWatch};
  CHECK(one.listening() == 1);
  CHECK(two.listening() == 1);
  CHECK(own.listening() == 5);
  CHECK(root.listening() == 5);
}

TEST_CASE("a user's place is free again as soon as its client is gone, even in a watch") {
  ServiceFixture fixture{limits_of(16, 4)};
  Crowd one{fixture.loop, fixture.path, kOne, 6, kSilentWatch};
  CHECK(one.listening() == 4);
  // The user may rest meanwhile.
  REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 4; }));
  int told = 0;
  for (const auto& call : fixture.kept) call->on_gone([&told] { ++told; });
  one.leave();
  REQUIRE(fixture.loop.run_until([&] { return fixture.service.clients() == 0; }));
  CHECK(told == 4);
  const Crowd again{fixture.loop, fixture.path, kOne, 4, kSilentWatch};
  CHECK(again.listening() == 4);
}

TEST_CASE("a user who floods rests, and other users are served meanwhile") {
  ServiceFixture fixture;
  std::string requests;
  for (int n = 0; n < 100; ++n) requests += request("Echo", R"({"text":"flood"})") + '\0';
  std::vector<RawClient> flood;
  {
    const AsNobody nobody;
    for (int n = 0; n < 16; ++n) flood.push_back(fixture.client());
  }
  for (const RawClient& client : flood) REQUIRE(client.send_some(requests) == requests.size());
  // Nothing is left to do for a while, although most requests wait.
  const auto rests = [&] { return sd_event_run(fixture.loop.get(), 0) == 0; };
  REQUIRE(fixture.loop.run_until(rests));
  for (const uid_t uid : {kOne, uid_t{0}}) {
    CAPTURE(uid);
    const AsNobody other{uid};
    CHECK(is_served(fixture));
  }
  CHECK(fixture.echoed.size() < flood.size() * 100);
}

TEST_CASE("a user who floods gets each answer, one after another") {
  constexpr std::size_t kRequests = 500;
  ServiceFixture fixture;
  std::string requests;
  for (std::size_t n = 0; n < kRequests; ++n) requests += request("Echo", R"({"text":"x"})") + '\0';
  std::optional<RawClient> client;
  {
    const AsNobody nobody;
    client.emplace(fixture.client());
  }
  REQUIRE(client->send_some(requests) == requests.size());
  CHECK(fixture.loop.run_until([&] { return fixture.echoed.size() == kRequests; }, 30s));
}

TEST_CASE("a user who has cost much does not lengthen the rest of another user") {
  ServiceFixture fixture;
  std::optional<RawClient> one, two;
  {
    const AsNobody user{kOne};
    one.emplace(fixture.client());
  }
  REQUIRE(one->ask(request("Work", R"({"us":500000})")));
  std::string requests;
  for (int n = 0; n < 300; ++n) requests += kHello + '\0';
  {
    const AsNobody user{kTwo};
    two.emplace(fixture.client());
  }
  REQUIRE(two->send_some(requests) == requests.size());
  // The share of kOne has made up for that work in ten seconds.
  CHECK(fixture.loop.run_until([&] { return fixture.echoed.size() == 300; }, 8s));
}

TEST_CASE("a user's share of the CPU") {
  varlink::Clients clients{varlink::Limits{}, AsNobody::kUid};
  const auto rest = [&](uid_t uid, std::uint64_t cpu) {
    const bool begins = clients.spent(uid, cpu, 1000);
    const auto end = clients.wake(1000);
    CHECK(begins == end.has_value());
    return end.value_or(0);
  };
  SECTION("5 ms at once, then a twentieth") {
    CHECK(rest(kOne, 5000) == 0);
    CHECK(rest(kOne, 1) == 101'020);
    CHECK(clients.wake(101'019) == 101'020);
    CHECK_FALSE(clients.wake(101'020));
    CHECK(rest(kOne, 5000) == 0);
  }
  SECTION("of each user apart") {
    CHECK(rest(kOne, 6000) == 121'000);
    CHECK(clients.spent(kTwo, 5001, 1000));
    CHECK(clients.wake(1000) == 101'020);
  }
  SECTION("for a second at most, whatever the user does meanwhile") {
    CHECK(rest(kOne, 3'600'000'000) == 1'001'000);
    CHECK_FALSE(clients.spent(kOne, 3'600'000'000, 500'000));
    CHECK(clients.wake(1'001'000) == 1'500'000);
    CHECK_FALSE(clients.wake(1'500'000));
  }
  SECTION("but root and the service's own user have no limit") {
    CHECK(rest(0, 1'000'000) == 0);
    CHECK(rest(AsNobody::kUid, 1'000'000) == 0);
  }
}

TEST_CASE("when most of a crowd has left, this is told once, however many stay and come") {
  ServiceFixture fixture;
  const auto come_and_leave = [&](int clients) {
    Crowd crowd{fixture.loop, fixture.path, kOne, clients, kSilentWatch};
    CHECK(crowd.listening() == clients);
    crowd.leave();
    REQUIRE(fixture.loop.run_until([&] { return fixture.service.clients() == 1; }));
  };
  auto stays = fixture.client();
  REQUIRE(fixture.loop.run_until([&] { return fixture.service.clients() == 1; }));
  for (const int crowds : {1, 2}) {
    come_and_leave(20);
    CHECK(fixture.loop.run_until([&] { return fixture.crowds_left == crowds; }));
  }
  come_and_leave(6);
  CHECK_FALSE(fixture.loop.run_until([&] { return fixture.crowds_left != 2; }, 1500ms));
}
