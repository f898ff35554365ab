// SPDX-License-Identifier: GPL-2.0-or-later
// Records log entries as the journal would get them, by an additional sink, while it lives.
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

  // The fields of each entry: "MESSAGE=…", "PRIORITY=4", …
  [[nodiscard]] const std::vector<std::vector<std::string>>& entries() const { return entries_; }
  // "MESSAGE=…" of each entry.
  [[nodiscard]] std::vector<std::string> messages() const;

 private:
  // Kept apart, because spdlog's headers take long to compile.
  struct Sinks;

  std::vector<std::vector<std::string>> entries_;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace pvrdma::test
