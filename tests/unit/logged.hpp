// SPDX-License-Identifier: GPL-2.0-or-later
// What is logged, as the journal would get it: a sink beside the usual one, as long as this lives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/base/log.hpp"

namespace pvrdma::test {

class Logged {
 public:
  explicit Logged(log::Level level = log::Level::Info);
  ~Logged();
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  // Each with its fields: "MESSAGE=…", "PRIORITY=4", …
  [[nodiscard]] const std::vector<std::vector<std::string>>& entries() const { return entries_; }
  // "MESSAGE=…" of each.
  [[nodiscard]] std::vector<std::string> messages() const;

 private:
  // spdlog's side of it, which takes long to compile.
  struct Sinks;

  std::vector<std::vector<std::string>> entries_;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace pvrdma::test
