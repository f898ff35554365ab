// SPDX-License-Identifier: GPL-2.0-or-later
// Which addresses the executor has set in this boot, in /run: what the kernel itself cannot tell.
//
// A kernel that keeps IFA_PROTO (5.18) marks our addresses; on an older one only this file knows
// them. On all of them it says which addresses have been looked for in the network already.
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

// A line for each: "00:50:56:8a:9f:c2 192.168.30.201/24 marked". Lines of another form are skipped.
[[nodiscard]] std::vector<RecordedAddress> parse_address_records(std::string_view text);
[[nodiscard]] std::string format_address_records(const std::vector<RecordedAddress>& records);

// No file: none.
[[nodiscard]] Result<std::vector<RecordedAddress>> read_address_records(const Root& root);

// Sets LinkAddress::ours of those that the kernel could not mark.
void claim_unmarked(const std::vector<RecordedAddress>& records, const std::string& mac,
                    std::vector<LinkAddress>& addresses);

}  // namespace pvrdma::probes
