// SPDX-License-Identifier: GPL-2.0-or-later
// Links for tests of network managers' files.
#pragma once

#include "agent/tools/survey/link_files.hpp"

namespace pvrdma::test {

inline const probes::LinkNames kLink{"ens224f0", "00:50:56:8a:9f:c2"};
inline const probes::LinkNames kByMac{"", "00:50:56:8a:9f:c2"};

}  // namespace pvrdma::test
