// SPDX-License-Identifier: GPL-2.0-or-later
// An adapter without hardware in place of libibverbs: libibverbs' functions are defined here, so
// the library is not linked. Each send completes at once, each receive as if the peer had sent.
#pragma once

namespace pvrdma::fuzz {

inline constexpr const char* kMadeUpDevice = "made-up";

struct MadeUp {
  bool loses_sends = false;
  unsigned bytes_short = 0;  // missing from each received message
};
// Sets the adapter's behaviour from now on.
void make_up(MadeUp how);

}  // namespace pvrdma::fuzz
