// SPDX-License-Identifier: GPL-2.0-or-later
// Texts of repetition that could make a reader slow or large.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace pvrdma::fuzz {

// How the time may grow. BySquare is for libraries, whose input our limits keep short; only their
// time has a bound.
enum class Growth { BySize, BySquare };

struct Repetition {
  const char* name;  // the reader's name, and the repeated text
  std::function<std::string(std::size_t bytes)> make;
  std::function<void(const std::string& text)> read;
  Growth growth = Growth::BySize;
};
// Has each reader of bytes that others than root may write (growth_table.cpp).
[[nodiscard]] std::span<const Repetition> repetitions();

}  // namespace pvrdma::fuzz
