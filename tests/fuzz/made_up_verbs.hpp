// SPDX-License-Identifier: GPL-2.0-or-later
// An adapter without hardware, in place of libibverbs: its functions are defined here, so that no
// library's are linked. Each send completes at once, each receive as if the peer had sent.
#pragma once

namespace pvrdma::fuzz {

inline constexpr const char* kMadeUpDevice = "made-up";

struct MadeUp {
  bool loses_sends = false;
  unsigned bytes_short = 0;  // of each message that comes
};
// How it behaves from now on.
void make_up(MadeUp how);

}  // namespace pvrdma::fuzz
