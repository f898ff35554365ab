// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/text.hpp"

#include <array>
#include <utility>

#include "agent/base/format.hpp"

namespace pvrdma {

namespace {

// Invisible characters that change the order in which others are shown, and line ends.
bool reorders(char32_t value) {
  return value == 0x061C || value == 0x200E || value == 0x200F ||
         (value >= 0x2028 && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069);
}

// `bytes`: those of the code point, or the byte that is not UTF-8.
std::string shown(CodePoint point, std::string_view bytes) {
  if (point.length == 0) return formatted("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
  if (point.value == '\n') return "\\n";
  if (point.value == '\t') return "\\t";
  if (point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0))
    return formatted("\\x{:02x}", static_cast<unsigned>(point.value));
  if (reorders(point.value)) return formatted("\\u{:04x}", static_cast<unsigned>(point.value));
  return std::string{bytes};
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (text.empty()) return {};
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0U) != 0x80) return {};
    value = (value << 6U) | (byte(at) & 0x3FU);
  }
  const std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length};
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string result;
  result.reserve(std::min(text.size(), longest));
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    const std::string next = shown(point, text.substr(0, length));
    if (next.size() > longest - result.size()) return result + "…";
    result += next;
    text.remove_prefix(length);
  }
  return result;
}

std::optional<std::string> closest(const std::string& word, const std::vector<std::string>& words) {
  std::optional<std::string> best;
  // Less than half of a short word may differ, or any word would be close to it.
  std::size_t nearest = std::min<std::size_t>(3, word.size() / 2 + 1);
  for (const std::string& candidate : words) {
    // The distance is at least the difference in length, so a long word can be skipped.
    if (word.size() > candidate.size() + 2) continue;
    if (const std::size_t distance = edit_distance(word, candidate); distance < nearest) {
      nearest = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace pvrdma
