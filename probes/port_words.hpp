// SPDX-License-Identifier: GPL-2.0-or-later
// The words for a port's states, the same for the numbers of nldev and of libibverbs.
#pragma once

#include <string>

namespace pvrdma::probes {

// enum ib_port_state, and the port's physical states (IBTA vol. 1, 14.2.5.6), as in the model:
// "ACTIVE", "LINK_UP". "UNKNOWN(9)" for an unknown number.
[[nodiscard]] std::string port_state_word(unsigned state);
[[nodiscard]] std::string phys_state_word(unsigned state);

}  // namespace pvrdma::probes
