// Calls that are answered later, of real clients that stay or leave.
#include "agent/daemon/agent_service.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

// A service that keeps what it is asked; each call comes a second after the one before.
struct Keeper {
  Keeper() {
    REQUIRE(service.add_interface("interface test.keeper\nmethod Wait() -> (at: int)\n",
                                  {{"Wait", [this](const varlink::CallPtr& call) {
                                      time += std::chrono::seconds{1};
                                      kept->add(call, time);
                                    }}}));
    REQUIRE(service.listen(path, 0600));
  }
  [[nodiscard]] std::vector<RawClient> waiting(std::size_t count) {
    std::vector<RawClient> clients;
    for (std::size_t i = 1; i <= count; ++i) {
      clients.emplace_back(loop, path);
      REQUIRE(clients.back().call(R"({"method":"test.keeper.Wait"})"));
      REQUIRE(loop.run_until([&] { return kept->size() == i; }));
    }
    return clients;
  }

  TemporaryDirectory directory;
  std::string path = directory / "keeper";
  Loop loop;
  BootTime time{};
  std::optional<KeptCalls> kept{std::in_place};
  varlink::Service service{loop.get(), {"test", "test", "1", ""}};
};

std::string answer(int at) { return R"({"parameters":{"at":)" + std::to_string(at) + "}}"; }

}  // namespace

TEST_CASE("calls are taken by when they came, and answered to whom they are") {
  Keeper keeper;
  CHECK(keeper.kept->empty());
  auto clients = keeper.waiting(3);
  CHECK(keeper.kept->take_until(BootTime{}).empty());
  const auto first = keeper.kept->take_until(BootTime{} + std::chrono::seconds{2});
  REQUIRE(first.size() == 2);
  CHECK(keeper.kept->size() == 1);
  for (std::size_t i = 0; i < 2; ++i) first[i]->reply({{"at", i}});
  keeper.kept->all().at(0)->reply({{"at", 2}});
  for (int i = 0; i < 3; ++i) CHECK(clients[static_cast<std::size_t>(i)].receive() == answer(i));
}

TEST_CASE("the call of a client that leaves is dropped at once, and no other") {
  Keeper keeper;
  auto clients = keeper.waiting(3);
  clients[1].leave();
  REQUIRE(keeper.loop.run_until([&] { return keeper.kept->size() == 2; }));
  const auto all = keeper.kept->all();
  all.at(0)->reply({{"at", 0}});
  all.at(1)->reply({{"at", 2}});
  CHECK(clients[0].receive() == answer(0));
  CHECK(clients[2].receive() == answer(2));
}

TEST_CASE("a client may leave after its call was taken, or after those who kept it") {
  Keeper keeper;
  auto clients = keeper.waiting(2);
  const auto taken = keeper.kept->take_until(BootTime{} + std::chrono::seconds{1});
  const auto copies = keeper.kept->all();
  keeper.kept.reset();
  clients.clear();
  REQUIRE(keeper.loop.run_until([&] { return keeper.service.clients() == 0; }));
  CHECK(taken.at(0)->gone());
  CHECK(copies.at(0)->gone());
}
