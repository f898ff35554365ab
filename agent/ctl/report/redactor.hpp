// Masking what identifies a machine, its network and its users: each value by a placeholder of its
// own ("ipv4-1", "mac-2"), the same one wherever and however it is written, so that what belongs
// together can still be told. Pure.
//
// First it learns from all texts, then it masks them: a value that is plain in one text is then
// found where it has no form of its own in another. Where a text can be read both ways, it is
// masked.
#pragma once

#include <bitset>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "agent/ctl/report/patterns.hpp"

namespace pvrdma::ctl::bundle {

// Literals found at a place of a text, the longest first; letters count in either case.
class Literals {
 public:
  static constexpr std::size_t kShortest = 2;  // characters

  // The first of two that are the same counts.
  void add(const std::string& literal, Beside beside, const std::string& replacement);
  // Length of the one that begins at `at`, and what replaces it; 0: none does. `text` is in lower
  // case.
  [[nodiscard]] std::pair<std::size_t, const std::string*> find_at(std::string_view text,
                                                                   std::size_t at) const;

 private:
  struct Entry {
    Beside beside = Beside::Anything;
    std::string replacement;
  };
  std::unordered_map<std::string, Entry> entries_;
  std::set<std::size_t, std::greater<>> lengths_;  // of the entries
  std::bitset<1U << 16U> beginnings_;              // the entries' first two characters
};

class Redactor {
 public:
  // A name that no form gives away, as a host's or a user's: masked as a whole word. One that is
  // too short to be told from other text (one character) is not.
  void add_name(Kind kind, const std::string& name);
  void learn(std::string_view text);
  [[nodiscard]] std::string mask(std::string_view text);

 private:
  std::string placeholder(Kind kind, const std::string& value);
  std::string secret(std::string_view value);

  std::map<std::pair<Kind, std::string>, std::string> placeholders_;
  std::map<Kind, unsigned> counts_;
  Literals literals_;
};

}  // namespace pvrdma::ctl::bundle
