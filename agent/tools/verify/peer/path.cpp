#include "agent/tools/verify/peer/path.hpp"
#include "agent/base/format.hpp"

namespace pvrdma::verify {

namespace {

// Signs for RDMA count up, those for a fall-back down.
struct Signs {
  int rdma = 0, fall_back = 0;
  std::vector<std::string> reasons;
};

void judge_latency(const Measured& of, const Thresholds& at, Signs& signs) {
  if (!of.latency_us) return;
  if (*of.latency_us <= at.surely_rdma_us) {
    signs.rdma += 2;
    signs.reasons.push_back(
        formatted("A latency of {:.1f} us is below {:.0f} us, where no TCP gets.", *of.latency_us,
                  at.surely_rdma_us));
    return;
  }
  if (!of.tcp_latency_us || *of.tcp_latency_us <= 0) return;
  const double part = *of.latency_us / *of.tcp_latency_us;
  const std::string figures = formatted("The latency is {:.1f} us, that of TCP {:.1f} us",
                                        *of.latency_us, *of.tcp_latency_us);
  if (part <= at.latency_of_tcp_rdma) {
    ++signs.rdma;
    signs.reasons.push_back(figures + ": much less, as RDMA's is.");
  } else if (part >= at.latency_of_tcp_fallback) {
    ++signs.fall_back;
    signs.reasons.push_back(figures + ": no better than TCP.");
  } else {
    signs.reasons.push_back(figures + ": that does not tell.");
  }
}

void judge_bandwidth(const Measured& of, const Thresholds& at, Signs& signs) {
  if (!of.bandwidth_mb_s || !of.tcp_bandwidth_mb_s || *of.tcp_bandwidth_mb_s <= 0) return;
  const double times = *of.bandwidth_mb_s / *of.tcp_bandwidth_mb_s;
  const std::string figures = formatted("The bandwidth is {:.0f} MB/s, that of TCP {:.0f} MB/s",
                                        *of.bandwidth_mb_s, *of.tcp_bandwidth_mb_s);
  if (times >= at.bandwidth_of_tcp_rdma) {
    ++signs.rdma;
    signs.reasons.push_back(figures + ": more by at least the 30 % that PVRDMA is ahead by.");
  } else if (times <= at.bandwidth_of_tcp_fallback) {
    ++signs.fall_back;
    signs.reasons.push_back(figures + ": no better than TCP.");
  } else {
    signs.reasons.push_back(figures + ": that does not tell.");
  }
}

bool is_above_the_wire(const Measured& of, const Thresholds& at, std::string& why) {
  if (!of.bandwidth_mb_s) return false;
  const double most =
      of.line_rate_mb_s ? *of.line_rate_mb_s * at.above_line_rate : at.line_rate_unknown_mb_s;
  if (*of.bandwidth_mb_s <= most) return false;
  why = formatted("{:.0f} MB/s are more than the hosts' NICs carry ({}): this went through memory.",
                  *of.bandwidth_mb_s,
                  of.line_rate_mb_s ? formatted("{:.0f} MB/s", *of.line_rate_mb_s)
                                    : std::string{"100 Gb/s, as no --line-rate says another"});
  return true;
}

}  // namespace

const char* to_string(Path path) {
  switch (path) {
    case Path::SameHost:
      return "same-host";
    case Path::Native:
      return "native";
    case Path::TcpFallBack:
      return "tcp-fall-back";
    case Path::Unclear:
      break;
  }
  return "unclear";
}

PathVerdict classify(const Measured& measured, const Thresholds& thresholds) {
  Signs signs;
  judge_latency(measured, thresholds, signs);
  judge_bandwidth(measured, thresholds, signs);
  PathVerdict verdict;
  verdict.reasons = std::move(signs.reasons);
  std::string above;
  if (is_above_the_wire(measured, thresholds, above) && signs.fall_back == 0) {
    verdict.path = Path::SameHost;
    verdict.reasons.push_back(above);
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
