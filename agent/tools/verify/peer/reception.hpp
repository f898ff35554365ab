// SPDX-License-Identifier: GPL-2.0-or-later
// Those who connect, greeted all at once: one that says nothing keeps no other one waiting.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/tools/verify/peer/control.hpp"
#include "agent/tools/verify/peer/greeting.hpp"

namespace pvrdma::verify {

class Reception {
 public:
  struct Guest {
    Control control;
    Json first;                    // what it said after the greeting, where that is wanted
    std::optional<Error> refused;  // why it is none, as of greet()
  };

  // `listener` null: only those that are added come.
  Reception(const Listener* listener, std::string token, bool wants_first)
      : listener_(listener), token_(std::move(token)), wants_first_(wants_first) {}

  // Has three seconds from now to greet; less while kMostAtOnce are greeting.
  void add(Control control);
  // The next that has greeted, or has been refused. ETIMEDOUT: the deadline has passed, or no more
  // can come. errno of accept(2).
  [[nodiscard]] Result<Guest> next(BootTime deadline);

  static constexpr std::size_t kMostAtOnce = 128;  // others wait in the listener's queue

 private:
  struct Greeter {
    Control control;
    Greeting greeting;
    BootTime came;
  };

  [[nodiscard]] bool is_full() const { return greeters_.size() >= kMostAtOnce; }
  // The time that one which came then has.
  [[nodiscard]] BootTime patience_with(const Greeter& greeter) const;
  [[nodiscard]] std::optional<Guest> look_at(Greeter& greeter) const;
  [[nodiscard]] std::optional<Guest> look_at_all();
  [[nodiscard]] Result<void> wait(BootTime deadline);

  const Listener* listener_;
  std::string token_;
  bool wants_first_;
  std::vector<Greeter> greeters_;  // the first came first
};

}  // namespace pvrdma::verify
