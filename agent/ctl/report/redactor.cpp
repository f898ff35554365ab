#include "agent/ctl/report/redactor.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/ctl/report/secrets.hpp"

namespace pvrdma::ctl::bundle {

namespace {

// A secret this long, of letters and digits, is no word that texts have anyway.
constexpr std::size_t kShortestSecret = 8;

bool may_be_beside(char c, Beside beside) {
  return beside == Beside::NoDigit      ? !is_digit(c)
         : beside == Beside::NoHexDigit ? !is_hex(c)
         : beside == Beside::NoWord     ? !is_alphanumeric(c)
                                        : true;
}

std::size_t beginning(std::string_view text, std::size_t at) {
  return (std::size_t{static_cast<unsigned char>(text[at])} << 8U) |
         static_cast<unsigned char>(text[at + 1]);
}

}  // namespace

void Literals::add(const std::string& literal, Beside beside, const std::string& replacement) {
  if (literal.size() < kShortest) return;
  const std::string key = lower(literal);
  if (!entries_.try_emplace(key, Entry{beside, replacement}).second) return;
  lengths_.insert(key.size());
  beginnings_.set(beginning(key, 0));
}

std::pair<std::size_t, const std::string*> Literals::find_at(std::string_view text,
                                                             std::size_t at) const {
  if (text.size() - at < kShortest || !beginnings_.test(beginning(text, at))) return {};
  for (const std::size_t length : lengths_) {
    if (text.size() - at < length) continue;
    const auto entry = entries_.find(std::string{text.substr(at, length)});
    if (entry == entries_.end()) continue;
    const bool fits =
        (at == 0 || may_be_beside(text[at - 1], entry->second.beside)) &&
        (at + length == text.size() || may_be_beside(text[at + length], entry->second.beside));
    if (fits) return {length, &entry->second.replacement};
  }
  return {};
}

std::string Redactor::placeholder(Kind kind, const std::string& value) {
  std::string& known = placeholders_[{kind, value}];
  if (known.empty()) {
    known = std::string{word_of(kind)} + "-" + std::to_string(++counts_[kind]);
    for (const Spelling& spelling : spellings(kind, value))
      literals_.add(spelling.text, spelling.beside, known);
  }
  return known;
}

std::string Redactor::secret(std::string_view value) {
  std::string name = placeholder(Kind::Secret, std::string{value});
  if (value.size() >= kShortestSecret && std::any_of(value.begin(), value.end(), is_digit) &&
      std::any_of(value.begin(), value.end(),
                  [](char c) { return is_alphanumeric(c) && !is_digit(c); }))
    literals_.add(std::string{value}, Beside::Anything, name);
  return name;
}

void Redactor::add_name(Kind kind, const std::string& name) {
  if (name.size() >= Literals::kShortest)
    literals_.add(name, Beside::NoWord, placeholder(kind, name));
}

void Redactor::learn(std::string_view text) {
  const std::string rest =
      without_secrets(text, [this](std::string_view value) { return secret(value); });
  for (std::size_t at = 0; at < rest.size();) {
    const auto found = find_at(rest, at);
    if (found && !found->value.empty()) placeholder(found->kind, found->value);
    at += found ? found->length : 1;
  }
}

std::string Redactor::mask(std::string_view text) {
  const std::string rest =
      without_secrets(text, [this](std::string_view value) { return secret(value); });
  const std::string low = lower(rest);
  std::string out;
  out.reserve(rest.size());
  for (std::size_t at = 0; at < rest.size();) {
    std::size_t length = 1;
    if (const auto found = find_at(rest, at)) {
      length = found->length;
      out += found->value.empty() ? rest.substr(at, length)
                                  : found->before + placeholder(found->kind, found->value);
    } else if (const auto [size, replacement] = literals_.find_at(low, at); size > 0) {
      length = size;
      out += *replacement;
    } else {
      out += rest[at];
    }
    at += length;
  }
  return out;
}

}  // namespace pvrdma::ctl::bundle
