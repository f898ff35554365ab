// SPDX-License-Identifier: GPL-2.0-or-later
// Where the commands write, and how. Looked up once by main, a value from then on.
#pragma once

#include <cstdio>
#include <string>

#include "agent/ctl/text.hpp"

namespace pvrdma::ctl {

struct Console {
  std::FILE* out = nullptr;  // results; not owned
  std::FILE* err = nullptr;  // why there is none; not owned
  std::size_t width = 80;    // columns
  bool colour = false;
  bool live = false;  // `out` is a terminal that can rewrite its last line

  // The process's own: width of the terminal, colours unless NO_COLOR is set (no-color.org).
  [[nodiscard]] static Console of_process();

  [[nodiscard]] Style style() const;
  // False once nobody takes it any more (a closed pipe, a full disk). Flushed at once.
  bool print(const std::string& text) const;
  // "pvrdma-agentctl: …" and a newline, on `err`.
  void complain(const std::string& text) const;
  // Replaces the line the cursor is in; an empty text clears it. Only where `live`.
  void progress(const std::string& text) const;
};

}  // namespace pvrdma::ctl
