// SPDX-License-Identifier: GPL-2.0-or-later
// Text for a person: wrapping, spans of time, colours. Pure. Text from outside must go through
// printable() (agent/base/text.hpp) first.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::ctl {

// How to write: everything besides its input that a rendering depends on.
struct Style {
  std::size_t width = 80;  // columns
  bool colour = false;
  Moment now{};  // to say how long ago something was
};

// The columns of a printable text: one for each code point.
[[nodiscard]] std::size_t columns(std::string_view text);
[[nodiscard]] std::string upper(std::string text);
// Filled up with spaces to a number of columns.
[[nodiscard]] std::string padded(std::string text, std::size_t width);
// Cut to a number of columns, with "..." at the end if it was longer.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

// Broken at spaces into lines of at most `width` columns, each but the first indented; the caller
// starts the first line at column `indent`. A longer word gets its own line and is not broken, so
// that it can be copied. No newline at the end.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// A line of a block, such as " Driver none": `text` is made printable, wrapped, and starts at
// column `indent`. Empty where `text` is empty.
[[nodiscard]] std::string row(const std::string& label, std::string_view text, std::size_t indent,
                              const Style& style);

// "12 ms", "3 s", "4 min 5 s", "2 h 10 min", "3 days 4 h". Negative counts as zero.
[[nodiscard]] std::string span(Milliseconds time);

// "2026-11-21 02:31:43 UTC (4 h 12 min ago)"
[[nodiscard]] std::string moment(BootTime time, const Moment& now);

enum class Colour { Bold, Dim, Green, Yellow, Red };
// `text` between the colour's escape sequences, if the style has colours.
[[nodiscard]] std::string painted(std::string text, Colour colour, const Style& style);

// Where and how the commands write. main() creates it once.

struct Console {
  std::FILE* out = nullptr;  // results; not owned
  std::FILE* err = nullptr;  // error messages; not owned
  std::size_t width = 80;    // columns
  bool colour = false;
  bool live = false;  // `out` is a terminal that can rewrite its last line

  // The console of this process: the width of the terminal, and colours unless NO_COLOR is set
  // (no-color.org).
  [[nodiscard]] static Console of_process();

  [[nodiscard]] Style style() const;
  // Writes and flushes. False where that fails (a closed pipe, a full disk).
  bool print(const std::string& text) const;
  // "pvrdma-agentctl: …" and a newline, on `err`.
  void complain(const std::string& text) const;
  // Replaces the line of the cursor; an empty text clears it. Does nothing unless `live`.
  void progress(const std::string& text) const;
};

}  // namespace pvrdma::ctl
