// SPDX-License-Identifier: GPL-2.0-or-later
// The records of the addresses that we have set.
#include "probes/address_records.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {
constexpr const char* kMac = "00:50:56:8a:9f:c2";
const std::vector<RecordedAddress> kRecords{{kMac, "192.168.30.201/24", true},
                                            {kMac, "fd00::1/64", false}};
}  // namespace

TEST_CASE("recorded addresses: written records are read back") {
  CHECK(parse_address_records(format_address_records(kRecords)) == kRecords);
  const test::Tree tree;
  CHECK(read_address_records(tree.root()).value().empty());
  tree.file(kAddressRecords, format_address_records(kRecords));
  CHECK(read_address_records(tree.root()).value() == kRecords);
  tree.remove(kAddressRecords);
  tree.unreadable(kAddressRecords);
  CHECK_FALSE(read_address_records(tree.root()).has_value());
}

TEST_CASE("recorded addresses: lines of another form are skipped") {
  CHECK(parse_address_records("\nx\na b\na b sometimes\na b marked c\na b unmarked") ==
        std::vector<RecordedAddress>{{"a", "b", false}});
}

TEST_CASE(
    "recorded addresses: they claim only addresses that the kernel could not mark, on the same "
    "link") {
  const std::vector<LinkAddress> there{{"192.168.30.201/24"}, {"fd00::1/64"}, {"fd00::2/64"}};
  auto addresses = there;
  claim_unmarked(kRecords, kMac, addresses);
  CHECK_FALSE(addresses[0].ours);  // another program set it again, without the mark
  CHECK(addresses[1].ours);
  CHECK_FALSE(addresses[2].ours);
  addresses = there;
  claim_unmarked(kRecords, "00:50:56:00:00:01", addresses);
  CHECK(addresses == there);
}

}  // namespace pvrdma::probes
