// SPDX-License-Identifier: GPL-2.0-or-later
// Nearly right texts: good ones with a few changes, the same in every run.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>

namespace pvrdma::test {

class Mutator {
 public:
  // `pieces`: texts worth inserting.
  explicit Mutator(std::span<const char* const> pieces) : pieces_(pieces) {}

  // A number below `limit`.
  std::size_t below(std::size_t limit) { return random_() % limit; }

  // `text` after `changes` changes: a byte, a cut, a piece, a repetition, an early end.
  std::string mutated(std::string text, std::size_t changes) {
    for (; changes > 0 && !text.empty(); --changes) change(text);
    return text;
  }

 private:
  void change(std::string& text) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, pieces_[below(pieces_.size())]);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(50)));
        break;
      default:
        text.resize(at);
    }
  }

  std::span<const char* const> pieces_;
  std::mt19937 random_{20261121};  // the same texts in every run
};

}  // namespace pvrdma::test
