// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out by which of vSphere's paths messages go between two VMs: through one host's memory, by
// RDMA between the hosts' RoCE NICs, or over TCP, which vSphere takes silently where a host has no
// such uplink. Each figure, and each fact about the hosts, excludes some of them. Pure.
//
// Within one host memory is copied whatever the NICs are, at any speed: a rate below the line rate
// does not prove that the wire was used. Source: VMware, vSphere Networking, "Remote Direct Memory
// Access for Virtual Machines".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pvrdma::verify {

// Rdma: memory or the wire, not told apart.
enum class Path { SameHost, Native, Rdma, TcpFallBack, Unclear };
struct PathWords {
  const char* id;      // in JSON and CSV; does not change
  const char* passes;  // how a message passes, for people
};
[[nodiscard]] const PathWords& words_of(Path path);

// Figures of one run over the same netdevs; a missing figure was not measured.
struct Measured {
  std::optional<double> latency_us;      // typical, for the smallest message
  std::optional<double> bandwidth_mb_s;  // one way, of the faster direction
  std::optional<double> tcp_latency_us;  // typical
  std::optional<double> tcp_bandwidth_mb_s;
  std::optional<double> line_rate_mb_s;  // of the hosts' NICs, if the user gave it
};

// What the hosts themselves say (agent/tools/verify/hosts.hpp); none: they do not tell.
struct Hosts {
  std::optional<bool> are_one;    // both VMs are on one host
  std::optional<bool> have_nics;  // both adapters have a NIC with RDMA
  std::vector<std::string> reasons;
};

struct PathVerdict {
  Path path = Path::Unclear;
  bool sure = false;  // false for a fall-back that nothing but the latency tells: RDMA is as slow
                      // where the VMs wait for a CPU
  std::vector<std::string> reasons;  // one sentence each
};

[[nodiscard]] PathVerdict classify(const Measured& measured, const Hosts& hosts = {});

// Points for the administrators of the two hosts to check where the path is TCP.
[[nodiscard]] const std::vector<std::string>& causes_of_fall_back();

}  // namespace pvrdma::verify
