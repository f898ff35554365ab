// SPDX-License-Identifier: GPL-2.0-or-later
// History: what counts as an external change.
#include <cerrno>
#include <map>
#include <string>

#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("a change that we did not cause resets the budget; our own does not") {
  Snapshot before = ready_scene();
  before.taken_at = kNow - Milliseconds{1000};
  Snapshot now = ready_scene();
  rdma(now).port.state = PortState::Down;
  History history = advance({}, nullptr, before);
  CHECK(fresh_start(history) == BootTime{});

  const History spontaneous = advance(history, &before, now);
  CHECK(fresh_start(spontaneous) == kNow);
  CHECK(spontaneous.adapters.at(function_of(0)).transitions == 1);
  CHECK(spontaneous.adapters.at(function_of(0)).port_changed == kNow);

  now.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{500})};
  CHECK(fresh_start(advance(history, &before, now)) == BootTime{});
  now.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{60'000})};
  CHECK(fresh_start(advance(history, &before, now)) == kNow);

  CHECK(fresh_start(spontaneous, function_of(0)) == kNow);
  CHECK(fresh_start(spontaneous, function_of(1)) == BootTime{});

  const History quiet = advance(history, &before, before);
  CHECK(fresh_start(quiet) == BootTime{});
  CHECK(quiet.adapters.at(function_of(0)).transitions == 0);
}

TEST_CASE("an attempt that a killed executor left unfinished counts as ours for two minutes") {
  Attempt killed = attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{0});
  killed.finished.reset();
  const auto fresh_start_at = [&](BootTime when) {
    Snapshot before = ready_scene();
    before.taken_at = when - Milliseconds{1000};
    before.ledger.attempts = {killed};
    Snapshot now = before;
    now.taken_at = when;
    rdma(now).port.state = PortState::Down;
    return fresh_start(advance(advance({}, nullptr, before), &before, now));
  };
  CHECK(fresh_start_at(kNow + Milliseconds{119'000}) == BootTime{});
  const BootTime later = kNow + Milliseconds{122'000};
  CHECK(fresh_start_at(later) == later);
}

TEST_CASE("each module that is being loaded has a time of its own") {
  Snapshot first = ready_scene();
  first.taken_at = kNow - Milliseconds{5000};
  module(first, "rdma_cm").init = ModuleInit::Coming;
  Snapshot second = first;
  second.taken_at = kNow;
  module(second, "ib_umad").init = ModuleInit::Coming;
  History history = advance(advance({}, nullptr, first), &first, second);
  using Since = std::map<std::string, BootTime>;
  CHECK(history.loading_since == Since{{"ib_umad", kNow}, {"rdma_cm", first.taken_at}});
  Snapshot failed;
  failed.taken_at = kNow;
  CHECK(advance(history, &second, failed).loading_since == history.loading_since);
  CHECK(advance(history, &second, ready_scene()).loading_since.empty());
}

TEST_CASE("a part that one look cannot read is no change, and flips no verdict") {
  const Error late{ETIMEDOUT, "asking", "for it"};
  const auto cannot_read = [&](Snapshot& scene) {
    SECTION("driver") { adapter(scene).driver = Field<std::string>::unreadable(late); }
    SECTION("netdev") { adapter(scene).netdev = Field<Netdev>::unreadable(late); }
    SECTION("RDMA device") { adapter(scene).rdma_device = Field<RdmaDevice>::unreadable(late); }
    SECTION("carrier") { netdev(scene).carrier = Field<bool>::unreadable(late); }
    SECTION("owner") { netdev(scene).owner = Field<LinkOwner>::unreadable(late); }
    SECTION("port") { rdma(scene).port.state = Field<PortState>::unreadable(late); }
    SECTION("paired netdev") { rdma(scene).netdev = Field<std::string>::unreadable(late); }
  };
  Snapshot good = ready_scene();
  good.taken_at = kNow - Milliseconds{30'000};
  const History before = advance({}, nullptr, good);
  Snapshot bad = ready_scene();
  cannot_read(bad);
  History history = advance(before, &good, bad);
  const auto verdict = [&](const Snapshot& scene, BootTime now) {
    return assess({}, scene, plan({}, scene, history, now), history, now);
  };
  CHECK(verdict(bad, kNow).state == State::Ready);
  CHECK(verdict(bad, kNow).findings.empty());
  const Plan awaiting = plan({}, bad, history, kNow);
  CHECK(awaiting.actions.empty());
  CHECK(awaiting.next_look == kNow + kSettle);

  // If the field stays unreadable, it is reported.
  Snapshot still_bad = bad;
  still_bad.taken_at = kNow + kSettle;
  const History lasting = advance(history, &bad, still_bad);
  CHECK(finding(plan({}, still_bad, lasting, kNow + kSettle).findings, FindingId::Unreadable) !=
        nullptr);
  CHECK(fresh_start(lasting) == BootTime{});

  Snapshot again = ready_scene();
  again.taken_at = kNow + Milliseconds{2000};
  history = advance(history, &bad, again);
  CHECK(verdict(again, again.taken_at).state == State::Ready);
  CHECK(fresh_start(history) == BootTime{});
  CHECK(history.adapters.at(function_of(0)).changed == good.taken_at);
  CHECK(history.adapters.at(function_of(0)).transitions == 0);
}

TEST_CASE("a value that changed while it was unreadable is a change") {
  Snapshot good = ready_scene();
  good.taken_at = kNow - Milliseconds{30'000};
  Snapshot bad = ready_scene();
  Snapshot now = ready_scene();
  now.taken_at = kNow + Milliseconds{30'000};
  SECTION("a port") {
    rdma(bad).port.state = Field<PortState>::unreadable({EIO, "reading", "it"});
    rdma(now).port.state = PortState::Down;
  }
  SECTION("all adapters") {
    bad.adapters = Field<std::vector<Adapter>>::unreadable({EIO, "reading", "the bus"});
    netdev(now).index += 10;
  }
  const History history = advance(advance({}, nullptr, good), &good, bad);
  CHECK(fresh_start(history) == BootTime{});
  CHECK(fresh_start(advance(history, &bad, now)) == now.taken_at);
  CHECK(fresh_start(advance(history, &bad, good)) == BootTime{});
}

TEST_CASE("an adapter that comes and goes is a change") {
  const Snapshot none = ready_scene(0);
  Snapshot one = ready_scene(1);
  // An adapter that appears is never our own change, however soon after an attempt.
  one.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{500})};
  const History history = advance(advance({}, nullptr, none), &none, one);
  CHECK(fresh_start(history) == kNow);
  CHECK(history.adapters.size() == 1);
  CHECK(advance(history, &one, none).adapters.empty());
}

TEST_CASE("a netdev that vmxnet3 takes away is not our change, however soon after ours") {
  Snapshot before = ready_scene();
  before.taken_at = kNow - Milliseconds{1000};
  Snapshot now = ready_scene();
  now.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{500})};
  const History history = advance({}, nullptr, before);
  SECTION("it is gone") {
    adapter(now).netdev = Field<Netdev>::absent();
    adapter(now).net_driver = Field<std::string>::absent();
  }
  SECTION("a new one is there already") { netdev(now).index += 10; }
  History after = advance(history, &before, now);
  CHECK(fresh_start(after) == kNow);
  // A netdev that comes back may be our own work.
  after.fresh_start = BootTime{};
  CHECK(fresh_start(advance(after, &now, now)) == BootTime{});
}

TEST_CASE("a removed adapter is reported until it is back, acknowledged or forgotten") {
  Snapshot two = ready_scene(2);
  for (unsigned i = 0; i < 2; ++i) netdev(two, i).permanent_mac = netdev(two, i).mac;
  Snapshot one = ready_scene(1);
  netdev(one).permanent_mac = netdev(one).mac;
  const History history = advance(advance({}, nullptr, two), &two, one);
  REQUIRE(history.removed.size() == 1);
  CHECK(history.removed.front() ==
        RemovedAdapter{function_of(1), netdev(two, 1).mac, netdev(two, 1).name, kNow});
  const Plan missed = plan({}, one, history, kNow);
  REQUIRE(finding(missed.findings, FindingId::AdapterRemoved) != nullptr);
  CHECK(finding(missed.findings, FindingId::AdapterRemoved)->severity == Severity::Warning);
  // By the first word of this value Cockpit's page acknowledges one removal, not all.
  CHECK(finding(missed.findings, FindingId::AdapterRemoved)
            ->values.at("adapter")
            .starts_with(function_of(1) + " ("));
  CHECK(assess({}, one, missed, history, kNow).state == State::Degraded);
  const Milliseconds patience = Config{}.readiness.forget_removed;
  CHECK(missed.next_look == kNow + patience);
  CHECK(finding(plan({}, one, history, kNow + patience).findings, FindingId::AdapterRemoved) ==
        nullptr);
  CHECK(advance(history, &one, two).removed.empty());

  SECTION("the name alone is not enough: it is back once its MAC is known") {
    Snapshot nameless = two;
    adapter(nameless, 1).netdev = Field<Netdev>::absent();
    CHECK(advance(history, &one, nameless).removed.size() == 1);
  }
  SECTION("the last one: a VM that had an adapter is not `absent`") {
    const Snapshot none = ready_scene(0);
    const History empty = advance(history, &one, none);
    CHECK(empty.removed.size() == 2);
    const Plan plan_of_none = plan({}, none, empty, kNow);
    CHECK(assess({}, none, plan_of_none, empty, kNow).state == State::Degraded);
    CHECK(assess({}, none, plan({}, none, {}, kNow), {}, kNow).state == State::Absent);
  }
}

TEST_CASE("where the kernel tells no permanent MAC, an adapter is known by its present one") {
  Snapshot both = ready_scene(2);
  Snapshot one = ready_scene(1);
  const auto removed = [&] {
    return advance(advance({}, nullptr, both), &both, one).removed.size();
  };
  CHECK(removed() == 1);
  adapter(one).function = function_of(7);  // it has come back at another address meanwhile
  netdev(one).mac = netdev(both, 1).mac;
  CHECK(removed() == 1);
  SECTION("not where the links of a bond have one MAC") {
    netdev(both, 0).mac = netdev(both, 1).mac;
    CHECK(removed() == 2);
  }
  SECTION("in its own slot it is back with any MAC: the one before may have been set by hand") {
    netdev(both, 1).mac = "02:00:00:00:00:01";
    one = ready_scene(1);
    const History gone = advance(advance({}, nullptr, both), &both, one);
    REQUIRE(gone.removed.size() == 1);
    CHECK(advance(gone, &one, ready_scene(2)).removed.empty());
  }
}

TEST_CASE("another MAC in the same slot is another adapter; one set by hand is not") {
  Snapshot before = ready_scene(1);
  netdev(before).permanent_mac = netdev(before).mac;
  before.taken_at = kNow - Milliseconds{60'000};
  History history = advance({}, nullptr, before);
  history.adapters.at(function_of(0)).transitions = 7;

  Snapshot by_hand = before;
  netdev(by_hand).mac = "02:00:00:00:00:01";
  CHECK(advance(history, &before, by_hand).removed.empty());
  CHECK(advance(history, &before, by_hand).adapters.at(function_of(0)).transitions == 7);

  Snapshot other = ready_scene(1);
  netdev(other).mac = netdev(other).permanent_mac = "00:50:56:00:00:99";
  const History replaced = advance(history, &before, other);
  REQUIRE(replaced.removed.size() == 1);
  CHECK(replaced.removed.front().mac == netdev(before).mac);
  CHECK(replaced.adapters.at(function_of(0)).transitions == 0);
  CHECK(replaced.adapters.at(function_of(0)).first_seen == kNow);
  CHECK(fresh_start(replaced) == kNow);
  CHECK(advance(replaced, &other, other).removed.size() == 1);
}
