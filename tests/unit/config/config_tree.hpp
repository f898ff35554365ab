// SPDX-License-Identifier: GPL-2.0-or-later
// A directory of configuration files that is removed with the test.
#pragma once

#include <string>

#include "agent/config/config_files.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::test {

class ConfigTree : public Tree {
 public:
  [[nodiscard]] Result<LoadedConfig> load() const { return load_config(root()); }
  // The error's line without the root's path; "": there is no error.
  [[nodiscard]] std::string complaint() const {
    const auto loaded = load();
    std::string line = loaded ? "" : loaded.error().message();
    const std::string top = (*this / "/").parent_path().string();
    for (std::size_t at = 0; (at = line.find(top)) != std::string::npos;)
      line.erase(at, top.size());
    return line;
  }
};

// Comments with `bytes` bytes in all, in lines that are not too long.
inline std::string lines_of_bytes(std::size_t bytes) {
  std::string text(bytes, '#');
  for (std::size_t at = 80; at < bytes; at += 80) text[at] = '\n';
  return text;
}

inline constexpr const char* kMain = "/etc/pvrdma-agent/pvrdma-agent.toml";

}  // namespace pvrdma::test
