// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/host_text.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
constexpr std::size_t kLongestSequence = 16;

// `low`: 0 where the low byte of a code unit comes first, else 1.
std::string from_utf16(std::string_view text, std::size_t low) {
  std::string ascii;
  for (; text.size() >= 2; text.remove_prefix(2))
    ascii += text[1 - low] == '\0' && text[low] > '\0' ? text[low] : '?';
  return ascii;
}

// The bytes of a control sequence, "\x1b[6n" (ECMA-48, 5.4), at the beginning; 0: there is none.
std::size_t sequence_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.substr(2, kLongestSequence).find_first_not_of("0123456789;?");
  return end == std::string_view::npos ? 0 : 2 + end + 1;
}

std::string without_marks(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (const std::size_t length = sequence_length(text); length != 0) {
      text.remove_prefix(length);
    } else if (text.starts_with(kNoBreakSpace)) {
      plain += ' ';
      text.remove_prefix(kNoBreakSpace.size());
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

// True where each line with text begins with ">".
bool is_quoted(std::string_view text) {
  bool has_text = false;
  while (!text.empty()) {
    const std::string_view line = trimmed(cut(text, '\n'));
    if (!line.empty() && line.front() != '>') return false;
    has_text = has_text || !line.empty();
  }
  return has_text;
}

std::string unquoted(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    line.remove_prefix(std::min(line.find('>') + 1, line.size()));  // npos + 1 is 0
    if (line.starts_with(' ')) line.remove_prefix(1);
    plain += std::string{line} + "\n";
  }
  return plain;
}

}  // namespace

std::string as_printed(std::string_view text) {
  std::string utf8;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    utf8 = from_utf16(text.substr(2), text.front() == '\xff' ? 0 : 1);
    text = utf8;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string plain = without_marks(text);
  return is_quoted(plain) ? unquoted(plain) : plain;
}

}  // namespace pvrdma
