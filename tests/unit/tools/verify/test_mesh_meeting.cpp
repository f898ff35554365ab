// SPDX-License-Identifier: GPL-2.0-or-later
// The meeting of `verify mesh`: machines that come, machines that leave, and their measurements.
// Machines are simulated.
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "agent/tools/verify/mesh/coordinator.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"
#include "tests/unit/tools/verify/free_port.hpp"
#include "tests/unit/tools/verify/simulated_machine.hpp"

namespace pvrdma::verify {

namespace {

struct Held {
  Result<Mesh> mesh;
  std::vector<PairResult> kept;
};

Held hold_with(std::size_t size, const std::map<std::size_t, std::size_t>& leaving,
               std::vector<PairResult> earlier = {}, Milliseconds all_come = kLong,
               std::size_t missing = 0) {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 64);
  REQUIRE(listener);
  std::vector<std::thread> machines;
  for (std::size_t n = 0; n + missing < size; ++n) {
    const auto at = leaving.find(n);
    machines.emplace_back(simulate, port.number, n, at == leaving.end() ? kAllPairs : at->second);
  }
  std::vector<PairResult> kept;
  Reception reception{&*listener, "", true};
  auto mesh = hold(reception, {size, size, all_come, kLong, std::move(earlier),
                               [&](const PairResult& pair) { kept.push_back(pair); },
                               [](const std::string&) {}});
  for (std::thread& machine : machines) machine.join();
  return {std::move(mesh), std::move(kept)};
}

}  // namespace

TEST_CASE("machines meet, and every pair is measured") {
  const Held held = hold_with(9, {});
  REQUIRE(held.mesh);
  CHECK(held.mesh->machines.size() == 9);
  CHECK(held.kept.size() == 36);
  CHECK(exit_code(*held.mesh, judge(*held.mesh)) == 0);
}

TEST_CASE("a machine that dies costs its own pairs only") {
  const Held held = hold_with(6, {{4, 2}});
  REQUIRE(held.mesh);
  REQUIRE(held.mesh->pairs.size() == 15);
  std::size_t failed = 0;
  for (const PairResult& pair : held.mesh->pairs)
    if (!pair.figures) {
      ++failed;
      CHECK((pair.from == address_of(4) || pair.to == address_of(4)));
      CHECK(pair.failed.starts_with("vm4 was lost: "));
    }
  CHECK(failed == 3);
}

TEST_CASE("a machine that was started again takes its own place, and no other machine's") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 64);
  REQUIRE(listener);
  bool took_part = false;
  std::thread machines{[&] {
    for (const std::size_t lost : {0U, 0U}) static_cast<void>(joined(port.number, lost));
    auto first = joined(port.number, 0);
    auto stranger = joined(port.number, 0);
    if (!first || !stranger) return;
    const auto told = stranger->receive(BootClock::now() + kLong);
    if (!told || text_in(*told, "refused") != "another machine has its address, 10.0.0.1") return;
    const std::jthread other{simulate, port.number, 1, kAllPairs};
    const auto asked = first->receive(BootClock::now() + kLong);
    took_part = asked && asked->contains("listen");
    static_cast<void>(first->send({{"served", true}}, BootClock::now() + kLong));
  }};
  Reception reception{&*listener, "", true};
  const auto mesh = hold(
      reception, {2, 2, kLong, kLong, {}, [](const PairResult&) {}, [](const std::string&) {}});
  machines.join();
  REQUIRE(mesh);
  CHECK(took_part);
  CHECK(mesh->pairs.size() == 1);
}

TEST_CASE("where both machines of a pair fail, the reasons of both are told") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 64);
  REQUIRE(listener);
  std::vector<std::jthread> machines;
  for (const std::size_t n : {0U, 1U}) machines.emplace_back(simulate_failing, port.number, n);
  Reception reception{&*listener, "", true};
  const auto mesh = hold(
      reception, {2, 2, kLong, kLong, {}, [](const PairResult&) {}, [](const std::string&) {}});
  REQUIRE(mesh);
  REQUIRE(mesh->pairs.size() == 1);
  CHECK_FALSE(mesh->pairs.front().figures);
  CHECK(mesh->pairs.front().failed ==
        "connecting: refused; the listening machine: registering memory");
}

TEST_CASE("pairs that were measured before are not measured again") {
  const Held first = hold_with(4, {});
  REQUIRE(first.mesh);
  auto earlier = first.kept;
  earlier.pop_back();
  const Held held = hold_with(4, {}, earlier);
  REQUIRE(held.mesh);
  CHECK(held.kept.size() == 1);
  CHECK(held.mesh->pairs.size() == 6);
}

TEST_CASE("the wait for a missing machine has its limit") {
  const Held held = hold_with(3, {}, {}, Milliseconds{1500}, 1);
  REQUIRE(held.mesh);
  CHECK(held.mesh->machines.size() == 2);
  CHECK(held.mesh->size == 3);
  const Held alone = hold_with(2, {}, {}, Milliseconds{1000}, 1);
  REQUIRE_FALSE(alone.mesh);
  CHECK(alone.mesh.error().message() == "1 of 2 machines came");
}

TEST_CASE("connections that say nothing delay no machine, and not the end") {
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 64);
  REQUIRE(listener);
  std::vector<Control> strangers;
  for (std::size_t n = 0; n < Reception::kMostAtOnce + 20; ++n) {
    auto stranger = Control::connect("127.0.0.1", port.number, BootClock::now());
    if (!stranger) break;  // the queue is full
    strangers.push_back(std::move(*stranger));
  }
  REQUIRE(strangers.size() > 40);
  Reception reception{&*listener, "", true};
  const auto none =
      hold(reception, {2, 2, Milliseconds{0}, kLong, {}, {}, [](const std::string&) {}});
  REQUIRE_FALSE(none);
  CHECK(none.error().message() == "0 of 2 machines came");
  std::vector<std::jthread> machines;
  for (const std::size_t n : {0U, 1U}) machines.emplace_back(simulate, port.number, n, kAllPairs);
  const BootTime before = BootClock::now();
  const auto mesh = hold(
      reception, {2, 2, kLong, kLong, {}, [](const PairResult&) {}, [](const std::string&) {}});
  REQUIRE(mesh);
  CHECK(mesh->pairs.size() == 1);
  // Greeted one after the other, they would have three seconds each.
  CHECK(BootClock::now() - before < Milliseconds{3000 * strangers.size()} / 4);
}

TEST_CASE("a machine announces the address of its adapter, of either family") {
  const test::Tree tree;
  test::bound_adapter(tree, "13:00", "ens19f0", "rocep19s0f1", "uverbs0");
  tree.link("/sys/class/infiniband/rocep19s0f1",
            "../../bus/pci/devices/0000:13:00.1/infiniband/rocep19s0f1");
  tree.file("/sys/module/vmw_pvrdma/refcnt", "0\n");
  tree.file("/sys/class/infiniband/rocep19s0f1/ports/1/gids/1",
            "fd00:0000:0000:0000:0000:0000:0000:0001\n");
  ctl::VerifyOptions options;
  options.root = tree.root();
  const auto helper = ctl::Helper::prepare(options);
  REQUIRE(helper);
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 1);
  REQUIRE(listener);
  auto member = Control::connect("127.0.0.1", port.number, BootClock::now() + kLong);
  auto meeting = listener->accept(BootClock::now() + kLong);
  REQUIRE(member);
  REQUIRE(meeting);
  REQUIRE(meeting->send({{"end", true}}, BootClock::now() + kLong));
  CHECK(take_part(*member, *helper, patience_of(*helper, kLong, 2)) == 0U);
  const auto joined = meeting->receive(BootClock::now() + kLong).and_then(machine_from);
  REQUIRE(joined);
  CHECK(joined->address == "fd00::1");
  // With --resume the others may measure in all rounds while this machine rests.
  CHECK(patience_of(*helper, kLong, 20) >= kLong + 20 * round_limit(*helper));
}

TEST_CASE("a mesh refuses an adapter without an address, also where the machine has another") {
  CHECK(address_in_mesh("192.168.30.1", "rocep19s0f1") == "192.168.30.1");
  CHECK(address_in_mesh("fd00::1", "rocep19s0f1") == "fd00::1");
  const auto none = address_in_mesh("", "rocep19s0f1");
  REQUIRE_FALSE(none);
  CHECK(none.error().message() ==
        "verify mesh needs an address of the adapter: the only GIDs of rocep19s0f1 are link-local "
        "ones of IPv6");
}

TEST_CASE("a machine that joins has a name and an address, and no text that looks like an option") {
  CHECK(machine_from(join_message({"vm", "10.0.0.1", "d"})));
  CHECK(machine_from(join_message({"vm", "fe80::1", "d"})));
  CHECK_FALSE(machine_from(join_message({"vm", "--help", "d"})));
  CHECK_FALSE(machine_from(join_message({"vm", "host.example", "d"})));
  CHECK_FALSE(machine_from(join_message({"", "10.0.0.1", "d"})));
  using namespace std::string_literals;
  CHECK_FALSE(machine_from(join_message({"vm", "10.0.0.2\0\x1b]0;owned\a"s, "d"})));
  CHECK_FALSE(machine_from(join_message({"vm\x1b[2J", "10.0.0.2", "d"})));
  CHECK_FALSE(machine_from(join_message({"vm", "10.0.0.2", "d\n"})));
  CHECK_FALSE(machine_from(join_message({std::string(300, 'x'), "10.0.0.2", "d"})));
  CHECK_FALSE(machine_from(Json{{"run", "pattern"}}));
}

}  // namespace pvrdma::verify
