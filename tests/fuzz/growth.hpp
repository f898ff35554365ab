// SPDX-License-Identifier: GPL-2.0-or-later
// What of size makes each reader slow or large: texts of one kind over and over.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace pvrdma::fuzz {

// By what the time may grow. BySquare: a library's way, which limits of ours keep short; only the
// time itself is held against a bound.
enum class Growth { BySize, BySquare };

struct Repetition {
  const char* name;  // the reader's, and what is repeated
  std::function<std::string(std::size_t bytes)> make;
  std::function<void(const std::string& text)> read;
  Growth growth = Growth::BySize;
};
// Each reader of bytes that others than root may write is in it (growth_table.cpp).
[[nodiscard]] std::span<const Repetition> repetitions();

}  // namespace pvrdma::fuzz
