// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the helper program of `selftest` (helper_main.cpp) and pvrdma-agentctl: the steps of
// the test, its figures, and the form of the helper's lines. No libibverbs here.
//
//   memlock=8388608                    bytes this process may lock, or "unlimited"
//   step=pd                            begun; the one before it is done
//   write=proved                       or "write=not-offered REASON"
//   latency_ns=12300 20100 84000       median, 99th percentile, maximum
//   failed=12 0 TEXT                   errno, ibv_wc_status, what else is known; ends the test
//   passed=                            everything was done and released again
//
// Any other line is libibverbs' or the dynamic loader's own.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace pvrdma::ctl::selftest {

enum class Step {
  Find,
  Open,
  Port,
  Gid,
  Pd,
  Memory,
  Channel,
  Cq,
  QueuePairs,
  Init,
  Rtr,
  Rts,
  Message,
  Rounds,
  Write,
  Release
};

struct StepWords {
  const char* id;     // in lines and in JSON; does not change
  const char* doing;  // for people
};

[[nodiscard]] const StepWords& words_of(Step step);
[[nodiscard]] std::optional<Step> step_of(std::string_view id);

using Nanoseconds = std::chrono::nanoseconds;

// Figures of round trips. Each is a measured time; the first two by rank() of peer/figures.hpp.
struct Latency {
  Nanoseconds median{0}, p99{0}, max{0};
  friend bool operator==(const Latency&, const Latency&) = default;
};
// None: there are no times.
[[nodiscard]] std::optional<Latency> latency_of(std::vector<Nanoseconds> times);

inline constexpr unsigned kRounds = 1000;
inline constexpr std::size_t kRoundBytes = 64;
// Many packets at RoCE's usual MTU of 1024. The whole buffer is four times as large.
inline constexpr std::size_t kMessageBytes = 16384;

}  // namespace pvrdma::ctl::selftest
