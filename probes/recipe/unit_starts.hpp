// SPDX-License-Identifier: GPL-2.0-or-later
// What starts a unit, by the links of `systemctl enable` and by timers of the unit's name.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/file.hpp"

namespace pvrdma::probes {

enum class UnitStart {
  Never,      // nothing that is looked at here does
  AtBoot,     // another unit wants it
  AfterBoot,  // a timer, once in a boot
  ByTimer,    // a timer, at times of its own
};

class UnitStarts {
 public:
  // Lists a folder; empty: it is not there, or not to be read.
  using NamesIn = std::function<const std::vector<std::string>&(const std::string& folder)>;
  // `folders`: of units, the first before the others.
  UnitStarts(const Root& root, std::vector<std::string> folders, NamesIn names_in)
      : root_(root), folders_(std::move(folders)), names_in_(std::move(names_in)) {}

  [[nodiscard]] UnitStart of(const std::string& unit);
  // A drop-in beside `but` may give the unit something else to do.
  [[nodiscard]] bool has_drop_ins(const std::string& unit, const std::string& but);
  // The files of timers that were asked for, there or not.
  [[nodiscard]] const std::vector<std::string>& looked_at() const { return looked_at_; }

 private:
  [[nodiscard]] UnitStart by_timer(const std::string& timer);

  const Root& root_;
  std::vector<std::string> folders_;
  NamesIn names_in_;
  std::optional<std::set<std::string>> wanted_;  // by another unit
  std::vector<std::string> looked_at_;
};

}  // namespace pvrdma::probes
