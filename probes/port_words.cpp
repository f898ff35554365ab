// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/port_words.hpp"

#include <array>

namespace pvrdma::probes {

namespace {

template <std::size_t N>
std::string word(const std::array<const char*, N>& words, unsigned number) {
  if (number < N) return words[number];
  return "UNKNOWN(" + std::to_string(number) + ")";
}

}  // namespace

std::string port_state_word(unsigned state) {
  constexpr std::array kWords{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return word(kWords, state);
}

std::string phys_state_word(unsigned state) {
  constexpr std::array kWords{"NO_STATE_CHANGE",
                              "SLEEP",
                              "POLLING",
                              "DISABLED",
                              "PORT_CONFIGURATION_TRAINING",
                              "LINK_UP",
                              "LINK_ERROR_RECOVERY",
                              "PHY_TEST"};
  return word(kWords, state);
}

}  // namespace pvrdma::probes
