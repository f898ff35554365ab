// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/path.hpp"

#include <array>

#include "agent/base/format.hpp"

namespace pvrdma::verify {

namespace {

// Sources: VMware recommends at most 50 us for GPUs used over the network (vSphere Bitfusion's
// network requirements); ib_send_bw reports 96.31 Gb/s on 100GbE (an engineer's article on PVRDMA
// in a home lab), so anything faster than 12,500 MB/s has not gone over 100GbE; an application's
// run over PVRDMA is 30 to 80 % faster than over TCP (a vendor's paper on HPC with OpenFOAM). A
// fall-back goes through the hosts' TCP, as the VMs' own TCP does, so its figures are no better.
constexpr double kSurelyRdmaUs = 10;  // TCP between VMs is never as fast
// RDMA's latency divided by TCP's: native RDMA stays below the first, a fall-back above the second.
constexpr double kLatencyOfTcpRdma = 0.5;
constexpr double kLatencyOfTcpFallBack = 0.9;
constexpr double kBandwidthOfTcpRdma = 1.3;
constexpr double kBandwidthOfTcpFallBack = 1.05;
constexpr double kAboveLineRate = 1.05;  // a higher rate has not gone over the wire
constexpr double kLineRateUnknownMbS = 12'500;

// The index is the number of Path.
constexpr std::array kPaths{
    PathWords{"same-host", "within one host's memory"},
    PathWords{"native", "by native RDMA"},
    PathWords{"tcp-fall-back", "over TCP, which vSphere has fallen back to"},
    PathWords{"unclear", "by a path that the figures do not show"},
};
static_assert(kPaths.size() == static_cast<std::size_t>(Path::Unclear) + 1);

struct Signs {
  int rdma = 0, fall_back = 0;
  std::vector<std::string> reasons;

  // Adds a sign: RDMA's figures compared with TCP's. At most one of the two flags is true.
  void add(const std::string& figures, bool is_rdma, const char* as_rdma, bool is_fall_back) {
    rdma += is_rdma ? 1 : 0;
    fall_back += is_fall_back ? 1 : 0;
    reasons.push_back(figures + (is_rdma        ? as_rdma
                                 : is_fall_back ? ": no better than TCP."
                                                : ": that does not tell."));
  }
};

void judge_latency(const Measured& of, Signs& signs) {
  if (!of.latency_us) return;
  if (*of.latency_us <= kSurelyRdmaUs) {
    signs.rdma += 2;
    signs.reasons.push_back(
        formatted("A latency of {:.1f} us is below {:.0f} us, which TCP does not reach.",
                  *of.latency_us, kSurelyRdmaUs));
    return;
  }
  if (!of.tcp_latency_us || *of.tcp_latency_us <= 0) return;
  const double part = *of.latency_us / *of.tcp_latency_us;
  signs.add(formatted("The latency is {:.1f} us, that of TCP {:.1f} us", *of.latency_us,
                      *of.tcp_latency_us),
            part <= kLatencyOfTcpRdma, ": much less, as RDMA's is.", part >= kLatencyOfTcpFallBack);
}

void judge_bandwidth(const Measured& of, Signs& signs) {
  if (!of.bandwidth_mb_s || !of.tcp_bandwidth_mb_s || *of.tcp_bandwidth_mb_s <= 0) return;
  const double times = *of.bandwidth_mb_s / *of.tcp_bandwidth_mb_s;
  signs.add(formatted("The bandwidth is {:.0f} MB/s, that of TCP {:.0f} MB/s", *of.bandwidth_mb_s,
                      *of.tcp_bandwidth_mb_s),
            times >= kBandwidthOfTcpRdma, ": more by at least the 30 % that PVRDMA is ahead by.",
            times <= kBandwidthOfTcpFallBack);
}

// The reason why messages went through memory; none: the wire may have carried them.
std::optional<std::string> above_the_wire(const Measured& of) {
  const double most = of.line_rate_mb_s ? *of.line_rate_mb_s * kAboveLineRate : kLineRateUnknownMbS;
  if (!of.bandwidth_mb_s || *of.bandwidth_mb_s <= most) return std::nullopt;
  return formatted(
      "{:.0f} MB/s are more than the hosts' NICs carry ({}): this went through memory.",
      *of.bandwidth_mb_s,
      of.line_rate_mb_s ? formatted("{:.0f} MB/s", *of.line_rate_mb_s)
                        : std::string{"100 Gb/s, without --line-rate"});
}

}  // namespace

const PathWords& words_of(Path path) { return kPaths.at(static_cast<std::size_t>(path)); }

PathVerdict classify(const Measured& measured) {
  Signs signs;
  judge_latency(measured, signs);
  judge_bandwidth(measured, signs);
  PathVerdict verdict;
  verdict.reasons = std::move(signs.reasons);
  if (const auto above = above_the_wire(measured); above && signs.fall_back == 0) {
    verdict.path = Path::SameHost;
    verdict.reasons.push_back(*above);
    verdict.sure = measured.line_rate_mb_s.has_value();
  } else if (signs.rdma > 0 && signs.fall_back == 0) {
    verdict.path = Path::Native;
    verdict.sure = signs.rdma > 1;
  } else if (signs.fall_back > 0 && signs.rdma == 0) {
    verdict.path = Path::TcpFallBack;
    verdict.sure = signs.fall_back > 1;
  } else if (signs.rdma > 0) {
    verdict.reasons.emplace_back("The signs contradict each other.");
  } else {
    verdict.reasons.emplace_back("There is no sign either way.");
  }
  return verdict;
}

const std::vector<std::string>& causes_of_fall_back() {
  static const std::vector<std::string> causes{
      "a RoCE NIC as active uplink of the switch, on both hosts: without it vSphere takes TCP",
      "RoCE enabled on that vmnic on both hosts (esxcli rdma device list)",
      "the same distributed switch for both VMs, with one RoCE uplink per host",
      "its MTU, and that of every physical switch between the hosts",
      "flow control, priority or global, on NICs and switches alike",
      "Net.PVRDMAVmknic on both hosts, and the firewall rule set pvrdma"};
  return causes;
}

}  // namespace pvrdma::verify
