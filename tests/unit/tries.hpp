// SPDX-License-Identifier: GPL-2.0-or-later
// The number of random inputs for a property.
#pragma once

namespace pvrdma::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kInstrumented = true;
#elif defined(__has_feature)
inline constexpr bool kInstrumented = __has_feature(address_sanitizer);
#else
inline constexpr bool kInstrumented = false;
#endif

// `all`, or a tenth with the sanitizers, whose code takes tens of times as long.
constexpr unsigned tries(unsigned all) { return kInstrumented ? (all + 9) / 10 : all; }

}  // namespace pvrdma::test
