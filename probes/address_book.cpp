#include "probes/address_book.hpp"

#include <algorithm>
#include <sstream>

namespace pvrdma::probes {

std::vector<BookedAddress> parse_address_book(std::string_view text) {
  std::vector<BookedAddress> book;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    BookedAddress entry;
    std::string mark;
    std::string rest;
    if (!(words >> entry.mac >> entry.address >> mark) || words >> rest) continue;
    if (mark != "marked" && mark != "unmarked") continue;
    entry.marked = mark == "marked";
    book.push_back(std::move(entry));
  }
  return book;
}

std::string format_address_book(const std::vector<BookedAddress>& book) {
  std::string text;
  for (const BookedAddress& entry : book)
    text += entry.mac + " " + entry.address + (entry.marked ? " marked\n" : " unmarked\n");
  return text;
}

Result<std::vector<BookedAddress>> read_address_book(const Root& root) {
  const auto text = read_file(root / kAddressBook);
  if (text) return parse_address_book(*text);
  if (means_absent(text.error())) return std::vector<BookedAddress>{};
  return fail(text.error());
}

void claim_unmarked(const std::vector<BookedAddress>& book, const std::string& mac,
                    std::vector<LinkAddress>& addresses) {
  for (LinkAddress& address : addresses)
    if (std::find(book.begin(), book.end(), BookedAddress{mac, address.text, false}) != book.end())
      address.ours = true;
}

}  // namespace pvrdma::probes
