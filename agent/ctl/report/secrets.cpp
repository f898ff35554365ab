#include "agent/ctl/report/secrets.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"

namespace pvrdma::ctl::bundle {

namespace {

using Placeholder = std::function<std::string(std::string_view)>;

constexpr std::string_view kBlank = " \t\r";
constexpr std::string_view kKeyEnds = "-_.";
// How far a key may begin before its separator, and a line before its first key: a bound on the
// time that a line of any length takes.
constexpr std::size_t kFar = 80;

bool is_key_char(char c) {
  return is_alphanumeric(c) || kKeyEnds.find(c) != std::string_view::npos;
}

// Where in the line a value lies; empty: there is none.
struct Value {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The word that ends before `separator`, without quotes and blanks between.
struct Key {
  std::size_t begin = 0;
  std::string_view word;
};
Key key_before(std::string_view line, std::size_t separator) {
  const std::size_t first = separator - std::min(separator, kFar);
  const std::size_t last = line.substr(first, separator - first).find_last_not_of(" \t\"'");
  if (last == std::string_view::npos) return {};
  const std::size_t end = first + last + 1;
  std::size_t begin = end;
  while (begin > first && is_key_char(line[begin - 1])) --begin;
  return {begin, line.substr(begin, end - begin)};
}

bool begins_line(std::string_view line, std::size_t key) {
  if (key > kFar) return false;
  std::string_view before = line.substr(0, key);
  constexpr std::string_view kExport = "export ";
  const std::size_t at = before.find(kExport);
  if (at != std::string_view::npos) before.remove_prefix(at + kExport.size());
  return before.find_first_not_of(" \t\"'#;-") == std::string_view::npos;
}

Value value_from(std::string_view line, std::size_t from, bool to_end) {
  std::size_t begin = std::min(line.find_first_not_of(kBlank, from), line.size());
  const char quote = begin < line.size() ? line[begin] : '\0';
  if (quote == '"' || quote == '\'') {
    std::size_t end = ++begin;
    while (end < line.size() && line[end] != quote)
      end += line[end] == '\\' && end + 1 < line.size() ? 2 : 1;
    return {begin, end};
  }
  if (quote == '{') return {begin, begin};
  const std::size_t end = to_end || quote == '[' ? line.size() : line.find_first_of(kBlank, begin);
  return {begin, std::min(end, line.size())};
}

// Of a secret key whose separator, or the blank after an option, is at `at`.
Value value_at(std::string_view line, std::size_t at) {
  const bool option = line[at] == ' ';
  const Key key = key_before(line, at);
  if (!is_secret_key(key.word) || (option && key.word.substr(0, 2) != "--")) return {};
  return value_from(line, at + 1, !option && begins_line(line, key.begin));
}

// "user:password" in "https://user:password@host/", where `at` is that of "://".
Value login_at(std::string_view line, std::size_t at) {
  const std::size_t begin = at + 3;
  const std::size_t end = line.find_first_of("/ \t\"'<>@", begin);
  if (end == std::string_view::npos || line[end] != '@') return {};
  return {begin, end};
}

std::string line_without_secrets(std::string_view line, const Placeholder& placeholder) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    Value value;
    if (line.substr(at, 3) == "://")
      value = login_at(line, at);
    else if (line[at] == '=' || line[at] == ':' || line[at] == ' ')
      value = value_at(line, at);
    if (value.begin >= value.end) continue;
    out.append(line.substr(done, value.begin - done));
    out += placeholder(line.substr(value.begin, value.end - value.begin));
    done = value.end;
    at = value.end - 1;
  }
  return out.append(line.substr(done));
}

}  // namespace

bool is_secret_key(std::string_view key) {
  const std::string name = lower(key);
  constexpr std::array kAnywhere{"password", "passwd",     "passphrase",    "secret",
                                 "token",    "credential", "authorization", "apikey"};
  constexpr std::array kLast{"key", "psk", "pwd", "pass", "pin"};
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  const std::string last = name.substr(name.find_last_of(kKeyEnds) + 1);
  return std::any_of(kAnywhere.begin(), kAnywhere.end(), has) ||
         std::any_of(kLast.begin(), kLast.end(), [&](const char* word) { return last == word; });
}

std::string without_secrets(std::string_view text, const Placeholder& placeholder) {
  std::string out;
  std::string block;  // of a private key, from its first line on
  while (!text.empty()) {
    const std::size_t before = text.size();
    const std::string_view line = cut(text, '\n');
    const bool ended = before > line.size() + text.size();  // by a newline
    const bool begins = line.find("PRIVATE KEY-----") != std::string_view::npos;
    if (begins || !block.empty()) {
      const bool was_open = !block.empty();
      block.append(line) += '\n';
      if (!(was_open && begins) && !text.empty()) continue;
      out += placeholder(block);
      block.clear();
    } else {
      out += line_without_secrets(line, placeholder);
    }
    if (ended) out += '\n';
  }
  return out;
}

}  // namespace pvrdma::ctl::bundle
