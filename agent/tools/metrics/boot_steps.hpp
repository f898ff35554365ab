// The steps of this boot, which the journal has.
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

// Reads them until the boot is ready.
class BootSteps {
 public:
  // `pause`: the least time between two readings.
  explicit BootSteps(BootReader read, Milliseconds pause = {})
      : read_{std::move(read)}, pause_{pause} {}
  // Null: the journal has none for this user.
  [[nodiscard]] const Timeline* latest();

 private:
  [[nodiscard]] bool is_due(BootTime now) const;

  BootReader read_;
  Milliseconds pause_;
  std::optional<BootTime> read_at_;
  std::optional<Timeline> known_;
};

}  // namespace pvrdma::metrics
