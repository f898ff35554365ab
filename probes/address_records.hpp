// SPDX-License-Identifier: GPL-2.0-or-later
// The addresses that the executor has set in this boot, recorded in /run, as the kernel cannot
// always tell.
//
// A kernel with IFA_PROTO (5.18) keeps a mark on our addresses; on an older kernel only this file
// tells them. On every kernel the file also tells for which addresses the network was probed
// already.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

inline constexpr const char* kAddressRecords = "/run/pvrdma-agent-executor/addresses";

struct RecordedAddress {
  std::string mac;      // of the link, lower case: lasting_mac()
  std::string address;  // "192.168.30.201/24"
  bool marked = false;  // the kernel keeps the mark
  friend bool operator==(const RecordedAddress&, const RecordedAddress&) = default;
};

// One line for each record: "00:50:56:8a:9f:c2 192.168.30.201/24 marked". Lines of another form are
// skipped.
[[nodiscard]] std::vector<RecordedAddress> parse_address_records(std::string_view text);
[[nodiscard]] std::string format_address_records(const std::vector<RecordedAddress>& records);

// A missing file gives no records.
[[nodiscard]] Result<std::vector<RecordedAddress>> read_address_records(const Root& root);

// Sets LinkAddress::ours of addresses in the records that the kernel could not mark.
void claim_unmarked(const std::vector<RecordedAddress>& records, const std::string& mac,
                    std::vector<LinkAddress>& addresses);

}  // namespace pvrdma::probes
