// SPDX-License-Identifier: GPL-2.0-or-later
// By which of vSphere's paths messages go between two VMs: memory of the same host, RDMA between
// the hosts' RoCE NICs, or, silently, TCP, where a host has no such uplink. The guest is not told;
// it can only measure. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pvrdma::verify {

enum class Path { SameHost, Native, TcpFallBack, Unclear };
struct PathWords {
  const char* id;      // in JSON and CSV; does not change
  const char* passes;  // how a message does, for people
};
[[nodiscard]] const PathWords& words_of(Path path);

// Of the same run, over the same netdevs; what is missing was not measured.
struct Measured {
  std::optional<double> latency_us;      // typical, of the smallest message
  std::optional<double> bandwidth_mb_s;  // one way
  std::optional<double> tcp_latency_us;  // typical
  std::optional<double> tcp_bandwidth_mb_s;
  std::optional<double> line_rate_mb_s;  // of the hosts' NICs, where somebody says
};

struct PathVerdict {
  Path path = Path::Unclear;
  bool sure = false;                 // two signs that agree, and none that does not
  std::vector<std::string> reasons;  // a sentence each
};

[[nodiscard]] PathVerdict classify(const Measured& measured);

// What the administrators of the two hosts have to look at where it is TCP.
[[nodiscard]] const std::vector<std::string>& causes_of_fall_back();

}  // namespace pvrdma::verify
