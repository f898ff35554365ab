// Reading the members of a table, for the files that know which there are.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "agent/config/item.hpp"

namespace pvrdma {

// Calls `read` with the member of that name, if it is there.
template <typename Read>
Result<void> with_member(const Item& table, const char* name, Read read) {
  const auto member = table.member(name);
  return member ? read(*member) : Result<void>{};
}

template <typename Value, std::size_t N>
Result<void> read_word(const Item& item, const std::array<std::pair<const char*, Value>, N>& words,
                       Value& into) {
  std::string rule;
  for (const auto& [word, value] : words) {
    if (item.string() != nullptr && *item.string() == word) {
      into = value;
      return {};
    }
    rule += (rule.empty() ? "must be one of " : ", ") + std::string{word};
  }
  return item.bad(rule);
}

}  // namespace pvrdma
