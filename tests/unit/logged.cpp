// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/logged.hpp"

#include <utility>

#include "agent/base/log_sink.hpp"

namespace pvrdma::test {

struct Logged::Sinks {
  std::vector<spdlog::sink_ptr> before;
};

Logged::Logged(log::Level level) : sinks_(new Sinks{log::logger().sinks()}) {
  log::set_level(level);
  log::logger().sinks().push_back(std::make_shared<log::JournalSink>(
      [this](log::JournalEntry entry) { entries_.push_back(std::move(entry)); }));
}

Logged::~Logged() {
  log::logger().sinks() = sinks_->before;
  log::set_level(log::Level::Info);
}

std::vector<std::string> Logged::messages() const {
  std::vector<std::string> first;
  for (const auto& entry : entries_) first.push_back(entry.front());
  return first;
}

}  // namespace pvrdma::test
