// The book of the addresses we have set.
#include "probes/address_book.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {
constexpr const char* kMac = "00:50:56:8a:9f:c2";
const std::vector<BookedAddress> kBook{{kMac, "192.168.30.201/24", true},
                                       {kMac, "fd00::1/64", false}};
}  // namespace

TEST_CASE("address book: what is written is read again") {
  CHECK(parse_address_book(format_address_book(kBook)) == kBook);
  const test::Tree tree;
  CHECK(read_address_book(tree.root()).value().empty());
  tree.file(kAddressBook, format_address_book(kBook));
  CHECK(read_address_book(tree.root()).value() == kBook);
  tree.remove(kAddressBook);
  tree.unreadable(kAddressBook);
  CHECK_FALSE(read_address_book(tree.root()).has_value());
}

TEST_CASE("address book: lines of another form are skipped") {
  CHECK(parse_address_book("\nx\na b\na b sometimes\na b marked c\na b unmarked") ==
        std::vector<BookedAddress>{{"a", "b", false}});
}

TEST_CASE("address book: claims only what the kernel could not mark, and only on that link") {
  const std::vector<LinkAddress> there{{"192.168.30.201/24"}, {"fd00::1/64"}, {"fd00::2/64"}};
  auto addresses = there;
  claim_unmarked(kBook, kMac, addresses);
  CHECK_FALSE(addresses[0].ours);  // set again by somebody else, without the mark
  CHECK(addresses[1].ours);
  CHECK_FALSE(addresses[2].ours);
  addresses = there;
  claim_unmarked(kBook, "00:50:56:00:00:01", addresses);
  CHECK(addresses == there);
}

}  // namespace pvrdma::probes
