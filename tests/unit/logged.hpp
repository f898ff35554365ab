// What is logged, as the journal would get it: a sink beside the usual one, as long as this lives.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/log_sink.hpp"

namespace pvrdma::test {

class Logged {
 public:
  explicit Logged(log::Level level = log::Level::Info)
      : before_(log::logger().sinks()),
        sink_(std::make_shared<log::JournalSink>(
            [this](log::JournalEntry entry) { entries_.push_back(std::move(entry)); })) {
    log::set_level(level);
    log::logger().sinks().push_back(sink_);
  }
  ~Logged() {
    log::logger().sinks() = before_;
    log::set_level(log::Level::Info);
  }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  [[nodiscard]] const std::vector<log::JournalEntry>& entries() const { return entries_; }
  // "MESSAGE=…" of each.
  [[nodiscard]] std::vector<std::string> messages() const {
    std::vector<std::string> first;
    for (const auto& entry : entries_) first.push_back(entry.front());
    return first;
  }

 private:
  std::vector<spdlog::sink_ptr> before_;
  std::vector<log::JournalEntry> entries_;
  std::shared_ptr<log::JournalSink> sink_;
};

}  // namespace pvrdma::test
