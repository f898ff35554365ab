// SPDX-License-Identifier: GPL-2.0-or-later
// The steps of this boot, as the journal has them.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "agent/base/clock.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::metrics {

// read_this_boot() (agent/ctl/boots_journal.hpp); empty: the steps are left out.
using BootReader = std::function<ctl::Answered<Timeline>()>;

// Reads the steps again until the boot is ready.
class BootSteps {
 public:
  // `pause`: the least time between two readings.
  explicit BootSteps(BootReader read, Milliseconds pause = {})
      : read_{std::move(read)}, pause_{pause} {}

  // Null: the journal has none for this user.
  [[nodiscard]] const Timeline* latest() {
    const BootTime now = BootClock::now();
    const bool complete = known_ && known_->find(StepKind::Ready) != nullptr;
    if (read_ && !complete && (!read_at_ || now - *read_at_ >= pause_)) {
      read_at_ = now;
      if (auto read = read_()) known_ = std::move(*read);
    }
    return known_ ? &*known_ : nullptr;
  }

 private:
  BootReader read_;
  Milliseconds pause_;
  std::optional<BootTime> read_at_;
  std::optional<Timeline> known_;
};

}  // namespace pvrdma::metrics
