// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers of tests for texts.
#pragma once

#include <string>

namespace pvrdma::test {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace pvrdma::test
