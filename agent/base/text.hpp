// SPDX-License-Identifier: GPL-2.0-or-later
// Splits and joins text, and makes it printable. Letters and digits are those of ASCII.
//
// A name from outside (of a process, of an interface) may contain line ends and control sequences
// of a terminal. So it must go through printable() before it is logged, printed or sent.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pvrdma {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// True where `text` has the form of `pattern`: 'x' stands for a hexadecimal digit, any other
// character for itself.
[[nodiscard]] constexpr bool has_form(std::string_view text, std::string_view pattern) {
  return std::ranges::equal(text, pattern, [](char c, char expected) {
    return expected == 'x' ? is_hex(c) : c == expected;
  });
}

// Removes the text up to and including `end` from the front of `rest`, and returns it without
// `end`; without `end` in `rest`, all of it. `while (!rest.empty()) cut(rest, '\n')` gives each
// line, the last with or without newline.
inline std::string_view cut(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view head = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return head;
}

// Without blanks, tabs and carriage returns at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// "/usr/sbin/ip" -> "ip"
[[nodiscard]] inline std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The words between blanks of a line.
[[nodiscard]] inline std::vector<std::string_view> split_at_blanks(std::string_view line) {
  std::vector<std::string_view> words;
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    words.push_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(words.back().size());
  }
  return words;
}

// The word after `name`; empty: there is none.
[[nodiscard]] inline std::string_view word_behind(const std::vector<std::string_view>& words,
                                                  std::string_view name) {
  const auto found = std::ranges::find(words, name);
  return found == words.end() || found + 1 == words.end() ? std::string_view{} : found[1];
}

// The number, if all of `text` is a number without "0x"; none: it is not, or it is too large.
template <typename Number>
[[nodiscard]] std::optional<Number> number_from(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // bytes; 0: not UTF-8
};
// The first code point of `text`, by RFC 3629: overlong forms, surrogates and values above U+10FFFF
// are not UTF-8.
[[nodiscard]] CodePoint first_code_point(std::string_view text);

// One line: control characters (C0, DEL, C1), bytes that are not UTF-8 and the invisible characters
// that reorder text or end a line (U+202A…, U+2066…) as escapes: "\n", "\x1b", "\u202e". A
// backslash stays as it is. At most `longest` bytes, followed by "…" if the text is longer.
[[nodiscard]] std::string printable(std::string_view text,
                                    std::size_t longest = std::string_view::npos);

[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string result{text};
  for (char& letter : result)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return result;
}

// std::string_view::contains() of C++23.
[[nodiscard]] inline bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// std::ranges::contains() of C++23.
template <typename List, typename Value>
[[nodiscard]] constexpr bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

// Moves the items to the end of the list.
template <typename Item>
void append(std::vector<Item>& list, std::vector<Item> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

// The first item with this value, or whose member has it; null: there is none.
template <typename List, typename Value, typename Member = std::identity>
[[nodiscard]] constexpr auto find_in(List& list, const Value& value, Member member = {}) {
  const auto found = std::ranges::find(list, value, member);
  return found == std::ranges::end(list) ? nullptr : &*found;
}

// "a, b, c"
[[nodiscard]] inline std::string joined(const std::vector<std::string>& words,
                                        std::string_view separator = ", ") {
  std::string result;
  for (const std::string& word : words) {
    if (!result.empty()) result += separator;
    result += word;
  }
  return result;
}

// The word of the list that is closest to a mistyped one, with at most two different letters. None:
// no word is close.
[[nodiscard]] std::optional<std::string> closest(const std::string& word,
                                                 const std::vector<std::string>& words);

}  // namespace pvrdma
