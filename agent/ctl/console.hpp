// SPDX-License-Identifier: GPL-2.0-or-later
// Where and how the commands write. main() creates it once.
#pragma once

#include <cstdio>
#include <string>

#include "agent/ctl/text.hpp"

namespace pvrdma::ctl {

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
