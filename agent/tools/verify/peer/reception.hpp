// SPDX-License-Identifier: GPL-2.0-or-later
// Greets all connections at once: one that says nothing keeps no other waiting.
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
    Json first;                    // its first line after the greeting, if `wants_first`
    std::optional<Error> refused;  // the reason why it was refused, as of greet()
  };

  // `listener` null: only connections from add() come.
  Reception(const Listener* listener, std::string token, bool wants_first)
      : listener_(listener), token_(std::move(token)), wants_first_(wants_first) {}

  // The connection has three seconds from now to greet; less while kMostAtOnce are greeting.
  void add(Control control);
  // Returns the next guest that has greeted or was refused. ETIMEDOUT: the deadline passed, or no
  // guest can come any more. errno of accept(2).
  [[nodiscard]] Result<Guest> next(BootTime deadline);

  static constexpr std::size_t kMostAtOnce = 128;  // others wait in the listener's queue

 private:
  struct Greeter {
    Control control;
    Greeting greeting;
    BootTime came;
  };

  [[nodiscard]] bool is_full() const { return greeters_.size() >= kMostAtOnce; }
  // The time by which this guest has to greet.
  [[nodiscard]] BootTime patience_with(const Greeter& greeter) const;
  [[nodiscard]] std::optional<Guest> look_at(Greeter& greeter) const;
  [[nodiscard]] std::optional<Guest> look_at_all();
  [[nodiscard]] Result<void> wait(BootTime deadline);

  const Listener* listener_;
  std::string token_;
  bool wants_first_;
  std::vector<Greeter> greeters_;  // in order of arrival
};

}  // namespace pvrdma::verify
