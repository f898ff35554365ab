// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out by which of vSphere's paths messages go between two VMs: through one host's memory, by
// RDMA between the hosts' RoCE NICs, or over TCP, which vSphere takes silently where a host has no
// such uplink. The guest can only measure. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pvrdma::verify {

enum class Path { SameHost, Native, TcpFallBack, Unclear };
struct PathWords {
  const char* id;      // in JSON and CSV; does not change
  const char* passes;  // how a message passes, for people
};
[[nodiscard]] const PathWords& words_of(Path path);

// Figures of one run over the same netdevs; a missing figure was not measured.
struct Measured {
  std::optional<double> latency_us;      // typical, for the smallest message
  std::optional<double> bandwidth_mb_s;  // one way
  std::optional<double> tcp_latency_us;  // typical
  std::optional<double> tcp_bandwidth_mb_s;
  std::optional<double> line_rate_mb_s;  // of the hosts' NICs, if the user gave it
};

struct PathVerdict {
  Path path = Path::Unclear;
  bool sure = false;                 // two signs agree, and none contradicts
  std::vector<std::string> reasons;  // one sentence each
};

[[nodiscard]] PathVerdict classify(const Measured& measured);

// Points for the administrators of the two hosts to check where the path is TCP.
[[nodiscard]] const std::vector<std::string>& causes_of_fall_back();

}  // namespace pvrdma::verify
