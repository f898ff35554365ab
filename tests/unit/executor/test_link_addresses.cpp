// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses of a link on the real kernel, in a network namespace.
#include <cerrno>

#include "agent/base/clock.hpp"
#include "tests/unit/executor/link_addresses_fixture.hpp"

namespace pvrdma::executor {

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: ours are marked, and go when they are no longer configured") {
  if (!space.entered()) return;
  run("ip address add 192.168.30.1/24 dev v0");
  CHECK(configure({"192.168.30.201/24", "fd00::1/64"}).outcome == Outcome::Done);
  CHECK(configure({"192.168.30.201/24", "fd00::1/64"}).outcome == Outcome::AlreadyDone);
  CHECK(seen("192.168.30.201/24").ours);
  CHECK(seen("fd00::1/64").ours);
  CHECK_FALSE(seen("192.168.30.1/24").ours);
  CHECK(records.size() == 2);
  CHECK(records.front() == probes::RecordedAddress{"02:00:00:00:00:01", "192.168.30.201/24", true});
  CHECK(configure_link(*socket, index, {{}, {}, {"fd00::1/64"}, false}, records, save()).outcome ==
        Outcome::AlreadyDone);
  CHECK(has("192.168.30.201/24"));  // a part of the configuration is missing, so it stays
  CHECK(configure({"fd00::1/64"}).outcome == Outcome::Done);
  CHECK_FALSE(has("192.168.30.201/24"));
  CHECK(has("fd00::1/64"));
  CHECK(has("192.168.30.1/24"));  // another program set this address
  CHECK(records.size() == 1);
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: none is removed under a holder, and others are set") {
  if (!space.entered()) return;
  const OperationResult in_use{
      Outcome::InUse, "in use by job (PID 7)", EBUSY, {{7, "job", "rocep0"}}};
  const auto under_a_job = [&](const std::vector<std::string>& addresses) {
    return configure_link(*socket, index,
                          {{}, addresses, addresses, true, [&] { return Alone{in_use}; }}, records,
                          save());
  };
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  const OperationResult kept = under_a_job({});
  CHECK(kept.outcome == Outcome::InUse);
  CHECK(kept.detail == "192.168.30.201/24 stays on v0: in use by job (PID 7)");
  CHECK(kept.holders == in_use.holders);
  CHECK(under_a_job({"192.168.30.202/24"}).outcome == Outcome::Done);
  CHECK(has("192.168.30.202/24"));
  run("ip link set v0 down");
  CHECK(under_a_job({"192.168.30.202/24"}).outcome == Outcome::Done);  // brought up
  CHECK(has("192.168.30.201/24"));
  CHECK(records.size() == 2);
  CHECK(configure({"192.168.30.202/24"}).outcome == Outcome::Done);
  CHECK_FALSE(has("192.168.30.201/24"));
}

TEST_CASE_METHOD(
    LinkAddressesFixture,
    "addresses: they are removed while no process can open the adapter, and then set") {
  if (!space.entered()) return;
  CHECK(configure({"192.168.30.201/24", "192.168.30.202/24"}).outcome == Outcome::Done);
  int begun = 0;
  std::weak_ptr<void> closed;
  const auto alone = [&] {
    ++begun;
    CHECK(has("192.168.30.201/24"));
    const auto until_released = std::make_shared<int>();
    closed = until_released;
    return Alone{{}, until_released};
  };
  const auto save_when_open = [&](const AddressRecords& now) {
    CHECK(closed.expired());
    CHECK_FALSE(has("192.168.30.202/24"));
    return save()(now);
  };
  const std::vector<std::string> other{"192.168.30.203/24"};
  CHECK(configure_link(*socket, index, {1400, other, other, true, alone}, records, save_when_open)
            .outcome == Outcome::Done);
  CHECK(begun == 2);  // for the MTU and for both addresses
  CHECK(configure_link(*socket, index, {1400, other, other, true, alone}, records, save_when_open)
            .outcome == Outcome::AlreadyDone);
  CHECK(begun == 2);
  const OperationResult in_use{Outcome::InUse, "in use", EBUSY, {}};
  CHECK(configure_link(*socket, index, {1500, other, other, true, [&] { return Alone{in_use}; }},
                       records, save_when_open)
            .outcome == Outcome::InUse);
  CHECK(run("ip -o link show dev v0").find("mtu 1400") != std::string::npos);
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: an address that only the records know as ours goes as well") {
  if (!space.entered()) return;
  run("echo 0 > /proc/sys/net/ipv4/conf/v0/promote_secondaries || true");
  run("ip address add 192.168.30.201/24 dev v0");
  run("ip address add 192.168.30.202/24 dev v0");
  records = {{"02:00:00:00:00:01", "192.168.30.201/24", false},
             {"02:00:00:00:00:01", "192.168.30.202/24", true}};
  CHECK(configure({}).outcome == Outcome::Done);
  CHECK_FALSE(has("192.168.30.201/24"));
  CHECK(has("192.168.30.202/24"));  // the mark is gone: another program set it again
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: an address that another host has is not set, and that host is named") {
  if (!space.entered()) return;
  run("ip address add 192.168.30.201/24 dev v1");
  // When v0 brings the carrier, a work of the kernel starts v1's queue; until then answers are
  // dropped.
  run("ip link set v0 up");
  for (int tries = 0;
       tries < 200 && run("ip -o link show v1").find(" state UP ") == std::string::npos; ++tries)
    ::poll(nullptr, 0, 50);
  const OperationResult result = configure({"192.168.30.201/24", "192.168.30.202/24"});
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.code == EADDRINUSE);
  CHECK(result.detail.find("02:00:00:00:00:02") != std::string::npos);
  CHECK_FALSE(has("192.168.30.201/24"));
  CHECK(has("192.168.30.202/24"));
  run("ip address del 192.168.30.201/24 dev v1");
  CHECK(configure({"192.168.30.201/24", "192.168.30.202/24"}).outcome == Outcome::Done);
  CHECK(has("192.168.30.201/24"));
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: an address that could not be recorded is not set") {
  if (!space.entered()) return;
  std::filesystem::remove(tree / "/state");
  const OperationResult result = configure({"192.168.30.201/24", "fd00::1/64"});
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.code == ENOENT);
  CHECK(result.detail.find("192.168.30.201/24 is not set: ") == 0);
  CHECK_FALSE(has("192.168.30.201/24"));
  CHECK_FALSE(has("fd00::1/64"));
  CHECK(records.empty());
  tree.directory("/state");
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  CHECK(has("192.168.30.201/24"));
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: the record is written before the kernel reports the address") {
  if (!space.entered()) return;
  std::size_t had_address = 0;
  const auto save = [&](const AddressRecords& now) {
    if (has("192.168.30.201/24")) ++had_address;
    return replace_file(tree / "/state/addresses", probes::format_address_records(now));
  };
  const std::vector<std::string> one{"192.168.30.201/24"};
  CHECK(configure_link(*socket, index, {{}, one, one}, records, save).outcome == Outcome::Done);
  CHECK(had_address == 0);
  CHECK(saved() == AddressRecords{{"02:00:00:00:00:01", "192.168.30.201/24", false}});
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: the record of an address that the kernel refuses is withdrawn") {
  if (!space.entered()) return;
  run("echo 1 > /proc/sys/net/ipv6/conf/v0/disable_ipv6");
  const OperationResult result = configure({"fd00::1/64"});
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.code == EACCES);
  CHECK(result.detail.ends_with(": IPv6 is switched off for v0 (net.ipv6.conf.v0.disable_ipv6)"));
  CHECK(records.empty());
  CHECK(saved().empty());
  // An address that another process sets in the same moment belongs to that process.
  const auto set_it = [&](const AddressRecords& now) {
    if (!now.empty()) run("ip address add 192.168.30.202/24 dev v0");
    return save()(now);
  };
  const std::vector<std::string> one{"192.168.30.202/24"};
  CHECK(configure_link(*socket, index, {{}, one, one}, records, set_it).good());
  CHECK(records.empty());
  CHECK(saved().empty());
}

TEST_CASE_METHOD(LinkAddressesFixture, "addresses: probed for duplicates once in a boot") {
  if (!space.entered()) return;
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  run("ip address del 192.168.30.201/24 dev v0");
  run("ip address add 192.168.30.201/24 dev v1");
  CHECK(configure({"192.168.30.201/24"}).outcome == Outcome::Done);
  CHECK(has("192.168.30.201/24"));
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: without carrier no host can be asked, so none is set") {
  if (!space.entered()) return;
  run("ip link set v1 down");
  const OperationResult result = configure({"192.168.30.201/24"});
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.code == ENETDOWN);
  CHECK_FALSE(has("192.168.30.201/24"));
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: all addresses together wait for the carrier as long as one does") {
  if (!space.entered()) return;
  run("ip link set v1 down");
  const BootTime start = BootClock::now();
  const OperationResult result =
      configure({"192.168.30.201/24", "192.168.30.202/24", "192.168.30.203/24"});
  CHECK(BootClock::now() - start < std::chrono::seconds{4});
  CHECK(result.code == ENETDOWN);
  CHECK(result.detail.find("192.168.30.201/24") != std::string::npos);
}

TEST_CASE_METHOD(LinkAddressesFixture,
                 "addresses: IPv6 is tentative, and then a duplicate where it is one") {
  if (!space.entered()) return;
  run("ip address add fd00::1/64 dev v1 nodad");
  CHECK(configure({"fd00::1/64"}).outcome == Outcome::Done);
  CHECK(seen("fd00::1/64").tentative);
  const auto found_duplicate = [&] {
    for (int tries = 0; tries < 200 && !seen("fd00::1/64").duplicate; ++tries)
      ::poll(nullptr, 0, 50);
    return seen("fd00::1/64").duplicate;
  };
  CHECK(found_duplicate());
  // A new request probes again; the kernel itself never does.
  CHECK(configure({"fd00::1/64"}).outcome == Outcome::Done);
  CHECK_FALSE(seen("fd00::1/64").duplicate);
  CHECK(seen("fd00::1/64").ours);
  CHECK(found_duplicate());
  run("ip address del fd00::1/64 dev v1");
  const OperationResult in_use{Outcome::InUse, "in use", EBUSY, {}};
  CHECK(configure_link(*socket, index,
                       {{}, {"fd00::1/64"}, {"fd00::1/64"}, true, [&] { return Alone{in_use}; }},
                       records, save())
            .outcome == Outcome::InUse);
  CHECK(seen("fd00::1/64").duplicate);
  CHECK(configure({"fd00::1/64"}).outcome == Outcome::Done);
  test::wait_until_addresses_are_valid("v0");
  CHECK(has("fd00::1/64"));
  CHECK_FALSE(seen("fd00::1/64").duplicate);
  CHECK(records.size() == 1);
}

TEST_CASE_METHOD(LinkAddressesFixture, "addresses: a duplicate that we did not set is left alone") {
  if (!space.entered()) return;
  run("ip address add fd00::1/64 dev v1 nodad");
  run("ip link set v0 up");
  run("ip address add fd00::1/64 dev v0");
  for (int tries = 0; tries < 200 && !seen("fd00::1/64").duplicate; ++tries) ::poll(nullptr, 0, 50);
  CHECK(seen("fd00::1/64").duplicate);
  CHECK(configure({"fd00::1/64"}).outcome == Outcome::AlreadyDone);
  CHECK(seen("fd00::1/64").duplicate);
}

}  // namespace pvrdma::executor
