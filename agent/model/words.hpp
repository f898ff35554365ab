// SPDX-License-Identifier: GPL-2.0-or-later
// The words of an enum's values: one table beside each enum, for all that writes or reads them
// (the interfaces' JSON, recordings, the ledger, the configuration, screens, metrics).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "agent/base/text.hpp"

namespace pvrdma {

template <typename Enum>
struct Word {
  Enum value;
  const char* text;
};
// The table of an enum, in the order in which a message lists its words.
template <typename Enum>
inline constexpr std::array<Word<Enum>, 0> kWordsOf{};

template <typename Enum>
concept has_words = std::is_enum_v<Enum> && !kWordsOf<Enum>.empty();

// Of an enum whose numbers are the kernel's: a newer kernel may have others, which are kept and
// written as "UNKNOWN(9)".
template <typename Enum>
concept numbered = has_words<Enum> && std::is_same_v<std::underlying_type_t<Enum>, std::uint8_t>;

// Null: it has none.
template <has_words Enum>
[[nodiscard]] constexpr const char* word_of(Enum value) {
  for (const auto& [known, text] : kWordsOf<Enum>)
    if (known == value) return text;
  return nullptr;
}

template <has_words Enum>
[[nodiscard]] const char* to_string(Enum value) {
  const char* word = word_of(value);
  return word != nullptr ? word : "unknown";
}
template <numbered Enum>
[[nodiscard]] std::string to_string(Enum value) {
  const char* word = word_of(value);
  return word != nullptr ? word : "UNKNOWN(" + std::to_string(static_cast<unsigned>(value)) + ")";
}

// And back; none: it is no such word.
template <has_words Enum>
[[nodiscard]] std::optional<Enum> from_word(std::string_view word) {
  for (const auto& [value, text] : kWordsOf<Enum>)
    if (word == text) return value;
  if constexpr (numbered<Enum>)
    if (word.starts_with("UNKNOWN(") && word.ends_with(")"))
      if (const auto number = number_from<std::uint8_t>(word.substr(8, word.size() - 9)))
        return static_cast<Enum>(*number);
  return std::nullopt;
}

}  // namespace pvrdma
