// By which of vSphere's paths messages go between two VMs: memory of the same host, RDMA between
// the hosts' RoCE NICs, or, silently, TCP, where a host has no such uplink. The guest is not told;
// it can only measure. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pvrdma::verify {

enum class Path { SameHost, Native, TcpFallBack, Unclear };
[[nodiscard]] const char* to_string(Path path);  // "same-host", …

// Of the same run, over the same netdevs; what is missing was not measured.
struct Measured {
  std::optional<double> latency_us;      // typical, of the smallest message
  std::optional<double> bandwidth_mb_s;  // one way
  std::optional<double> tcp_latency_us;  // typical
  std::optional<double> tcp_bandwidth_mb_s;
  std::optional<double> line_rate_mb_s;  // of the hosts' NICs, where somebody says
};

// Sources: VMware recommends at most 50 us for GPUs used from afar (vSphere Bitfusion's network
// requirements); ib_send_bw reports 96.31 Gb/s on 100GbE and 4395 MB/s on 40GbE (VMware, "RDMA
// performance in virtual machines"), so that nothing faster than 12,500 MB/s has gone over 100GbE;
// PVRDMA beats TCP by 30 to 80 % (VMware's OpenFOAM tests). A fall-back goes through the hosts'
// TCP as the VMs' own TCP does: its figures are no better than these.
struct Thresholds {
  double surely_rdma_us = 10;        // TCP between VMs does not come near
  double latency_of_tcp_rdma = 0.5;  // RDMA's latency as a part of TCP's: at most that of RDMA
  double latency_of_tcp_fallback = 0.9;
  double bandwidth_of_tcp_rdma = 1.3;
  double bandwidth_of_tcp_fallback = 1.05;
  double above_line_rate = 1.05;  // more has not gone over the wire
  double line_rate_unknown_mb_s = 12'500;
};

struct PathVerdict {
  Path path = Path::Unclear;
  bool sure = false;                 // two signs that agree, and none that does not
  std::vector<std::string> reasons;  // a sentence each
};

[[nodiscard]] PathVerdict classify(const Measured& measured, const Thresholds& thresholds = {});

// What the administrators of the two hosts have to look at where it is TCP.
[[nodiscard]] const std::vector<std::string>& causes_of_fall_back();

}  // namespace pvrdma::verify
