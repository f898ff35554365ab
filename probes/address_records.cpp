// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/address_records.hpp"

#include "agent/base/text.hpp"

namespace pvrdma::probes {

std::vector<RecordedAddress> parse_address_records(std::string_view text) {
  std::vector<RecordedAddress> records;
  while (!text.empty()) {
    const auto words = split_at_blanks(cut(text, '\n'));
    if (words.size() == 3 && (words[2] == "marked" || words[2] == "unmarked"))
      records.push_back({std::string{words[0]}, std::string{words[1]}, words[2] == "marked"});
  }
  return records;
}

std::string format_address_records(const std::vector<RecordedAddress>& records) {
  std::string text;
  for (const RecordedAddress& entry : records)
    text += entry.mac + " " + entry.address + (entry.marked ? " marked\n" : " unmarked\n");
  return text;
}

Result<std::vector<RecordedAddress>> read_address_records(const Root& root) {
  const auto text = read_file(root / kAddressRecords);
  if (text) return parse_address_records(*text);
  if (means_absent(text.error())) return std::vector<RecordedAddress>{};
  return fail(text.error());
}

void claim_unmarked(const std::vector<RecordedAddress>& records, const std::string& mac,
                    std::vector<LinkAddress>& addresses) {
  for (LinkAddress& address : addresses)
    if (contains(records, RecordedAddress{mac, address.text, false})) address.ours = true;
}

}  // namespace pvrdma::probes
