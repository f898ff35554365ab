// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/path.hpp"

#include <algorithm>
#include <array>

#include "agent/base/format.hpp"

namespace pvrdma::verify {

namespace {

// vSphere alone adds "a few tens of microseconds" to a round trip of TCP between VMs (VMware,
// "Network I/O Latency on VMware vSphere 5"), so that half a round trip takes more than this.
constexpr double kTcpNeverUs = 10;
// RDMA's latency divided by TCP's. A fall-back goes through the hosts' TCP as the VMs' TCP does, so
// its latency is about the same. Hardware's is a few microseconds, where the VMs' TCP takes tens.
constexpr double kLatencyOfTcpRdma = 0.5;
constexpr double kLatencyOfTcpFallBack = 0.8;
constexpr double kAboveLineRate = 1.05;  // allows for errors of a short measurement

// The index is the number of Path.
constexpr std::array kPaths{
    PathWords{"same-host", "within one host's memory"},
    PathWords{"native", "by native RDMA"},
    PathWords{"rdma", "by RDMA: through one host's memory or over the wire"},
    PathWords{"tcp-fall-back", "over TCP, which vSphere has fallen back to"},
    PathWords{"unclear", "by a path that the figures do not show"},
};
static_assert(kPaths.size() == static_cast<std::size_t>(Path::Unclear) + 1);

struct Search {
  bool memory = true, wire = true, tcp = true;  // the paths that are still possible
  std::vector<std::string> reasons;
};

void judge_latency(const Measured& of, Search& search) {
  if (!of.latency_us) return;
  const bool has_tcp = of.tcp_latency_us && *of.tcp_latency_us > 0;
  const double part = has_tcp ? *of.latency_us / *of.tcp_latency_us : 0;
  const std::string both = has_tcp ? formatted("The latency is {:.1f} us, that of TCP {:.1f} us",
                                               *of.latency_us, *of.tcp_latency_us)
                                   : formatted("The latency is {:.1f} us", *of.latency_us);
  if (has_tcp && part >= kLatencyOfTcpFallBack) {
    search.memory = search.wire = false;
    search.reasons.push_back(both + ": no better, as over TCP.");
  } else if (has_tcp && part <= kLatencyOfTcpRdma) {
    search.tcp = false;
    search.reasons.push_back(both + ": much less, so this is not TCP.");
  } else if (*of.latency_us <= kTcpNeverUs) {
    search.tcp = false;
    search.reasons.push_back(both +
                             formatted(": TCP between VMs never has {:.0f} us.", kTcpNeverUs));
  } else {
    search.reasons.push_back(both + ": that does not tell.");
  }
}

// TCP's own rate tells as well: both use the same uplinks.
void judge_rate(const Measured& of, Search& search) {
  const double rdma = of.bandwidth_mb_s.value_or(0), tcp = of.tcp_bandwidth_mb_s.value_or(0);
  if (!of.line_rate_mb_s || std::max(rdma, tcp) <= *of.line_rate_mb_s * kAboveLineRate) return;
  search.wire = search.tcp = false;
  search.reasons.push_back(
      formatted("{:.0f} MB/s{} are more than the line rate, {:.0f} MB/s: both VMs are on one host.",
                std::max(rdma, tcp), rdma < tcp ? " of TCP" : "", *of.line_rate_mb_s));
}

void judge_hosts(const Hosts& hosts, Search& search) {
  if (hosts.are_one == true) search.wire = search.tcp = false;
  if (hosts.are_one == false) search.memory = false;
  if (hosts.have_nics == true) search.tcp = false;
  if (hosts.have_nics == false) search.wire = false;
  search.reasons.insert(search.reasons.end(), hosts.reasons.begin(), hosts.reasons.end());
}

Path conclude(const Measured& of, Search& search) {
  if (!search.memory && !search.wire && !search.tcp) {
    search.reasons.emplace_back("The signs contradict each other.");
    return Path::Unclear;
  }
  if (search.memory && search.wire && !search.tcp) {
    search.reasons.push_back(
        formatted("Memory of one host and the wire are not told apart by that: {}"
                  "--host-properties may do it.",
                  of.line_rate_mb_s ? "" : "--line-rate or "));
    return Path::Rdma;
  }
  if (search.tcp && (search.memory || search.wire)) {
    search.reasons.emplace_back("More than one path is possible.");
    return Path::Unclear;
  }
  return search.memory ? Path::SameHost : search.wire ? Path::Native : Path::TcpFallBack;
}

}  // namespace

const PathWords& words_of(Path path) { return kPaths.at(static_cast<std::size_t>(path)); }

PathVerdict classify(const Measured& measured, const Hosts& hosts) {
  Search search;
  judge_latency(measured, search);
  judge_rate(measured, search);
  judge_hosts(hosts, search);
  PathVerdict verdict;
  verdict.path = conclude(measured, search);
  verdict.sure =
      verdict.path == Path::TcpFallBack ? hosts.have_nics == false : verdict.path != Path::Unclear;
  verdict.reasons = std::move(search.reasons);
  return verdict;
}

const std::vector<std::string>& causes_of_fall_back() {
  static const std::vector<std::string> causes{
      "a RoCE NIC as active uplink of the switch, on both hosts: without it vSphere takes TCP",
      "RoCE enabled on that vmnic on both hosts (esxcli rdma device list)",
      "the same distributed switch for both VMs, with one RoCE uplink per host",
      "its MTU, and that of every physical switch between the hosts",
      "flow control, priority or global, on NICs and switches alike",
      "Net.PVRDMAVmknic on both hosts, and the firewall rule set pvrdma",
      "the load of both hosts: RDMA is as slow as TCP where the VMs wait for a CPU"};
  return causes;
}

}  // namespace pvrdma::verify
