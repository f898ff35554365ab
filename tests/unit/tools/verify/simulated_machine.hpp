// SPDX-License-Identifier: GPL-2.0-or-later
// A machine of a mesh without any device, which answers at once.
#pragma once

#include <optional>

#include "agent/tools/verify/mesh/member.hpp"
#include "agent/tools/verify/peer/greeting.hpp"
#include "tests/unit/tools/verify/made_mesh.hpp"

namespace pvrdma::verify {

constexpr Milliseconds kLong = std::chrono::seconds{20};
constexpr std::size_t kAllPairs = 10'000;

// A machine that has joined; none: it cannot.
inline std::optional<Control> joined(int port, std::size_t number) {
  auto control = Control::connect("127.0.0.1", port, BootClock::now() + kLong);
  if (!control || !greet(*control, Side::Client, "", BootClock::now() + kLong) ||
      !control->send(join_message({"vm" + std::to_string(number), address_of(number), "d"}),
                     BootClock::now() + kLong))
    return std::nullopt;
  return std::move(*control);
}

// Answers like a machine. Leaves without a word before its pair `leaves_at`.
inline void answer_pairs(Control& control, std::size_t leaves_at) {
  for (std::size_t pairs = 0; pairs < leaves_at; ++pairs) {
    const auto asked = control.receive(BootClock::now() + kLong);
    if (!asked || !asked->contains("connect")) {
      if (!asked || !asked->contains("listen")) return;
      static_cast<void>(control.send({{"served", true}}, BootClock::now() + kLong));
      continue;
    }
    static_cast<void>(control.send({{"figures", to_json(native())}}, BootClock::now() + kLong));
  }
}
inline void simulate(int port, std::size_t number, std::size_t leaves_at) {
  if (auto control = joined(port, number)) answer_pairs(*control, leaves_at);
}

// Like a machine whose pairs all fail.
inline void simulate_failing(int port, std::size_t number) {
  auto control = joined(port, number);
  while (control) {
    const auto asked = control->receive(BootClock::now() + kLong);
    if (!asked || asked->contains("end")) return;
    const char* why = asked->contains("listen") ? "registering memory" : "connecting: refused";
    static_cast<void>(control->send({{"failed", why}}, BootClock::now() + kLong));
  }
}

}  // namespace pvrdma::verify
