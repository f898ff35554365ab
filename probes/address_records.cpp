#include "probes/address_records.hpp"

#include <algorithm>
#include <sstream>

namespace pvrdma::probes {

std::vector<RecordedAddress> parse_address_records(std::string_view text) {
  std::vector<RecordedAddress> records;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    RecordedAddress entry;
    std::string mark;
    std::string rest;
    if (!(words >> entry.mac >> entry.address >> mark) || words >> rest) continue;
    if (mark != "marked" && mark != "unmarked") continue;
    entry.marked = mark == "marked";
    records.push_back(std::move(entry));
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
    if (std::find(records.begin(), records.end(), RecordedAddress{mac, address.text, false}) !=
        records.end())
      address.ours = true;
}

}  // namespace pvrdma::probes
