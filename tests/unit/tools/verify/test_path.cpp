// SPDX-License-Identifier: GPL-2.0-or-later
// The path of pairs with 10 to 200GbE NICs, of pairs on one host, and of fall-backs: with and
// without the line rate and the hosts' properties, for two machines and as a mesh.
//
// Each row says where its bandwidth is from. No public text has PVRDMA's latency, nor any figure of
// a fall-back: latencies are assumed, RDMA's near the 1.8 us of hardware (github.com/linux-rdma/
// perftest, pull request 98), TCP's at the 20 to 60 us of VMs. perftest's MB are 2^20 bytes (pull
// request 257).
#include <nlohmann/json.hpp>

#include "agent/tools/verify/mesh/rendering.hpp"
#include "agent/tools/verify/peer/path.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/verify/made_mesh.hpp"
#include "tests/unit/tools/verify/pasted_properties.hpp"

namespace pvrdma::verify {

namespace {

constexpr double kGbit = 125;      // MB/s in a Gb/s
constexpr double kMiB = 1.048576;  // MB in perftest's MB
constexpr double kNone = 0;        // not measured, or not given
constexpr const char* kGuide = "an engineer's article, ib_send_bw --report_gbits";
constexpr const char* kHpc = "a vendor's paper on HPC with OpenFOAM, ib_send_bw";
constexpr const char* kBlueField = "perftest, issue 219: BlueField-2, ib_write_bw";
constexpr const char* kNccl = "github.com/NVIDIA/nccl-tests, issue 119: a maintainer";
constexpr const char* kUcx = "github.com/openucx/ucx, issue 8851: ib_read_bw, InfiniBand";
constexpr const char* kRoce = "doi:10.1107/S1600577520008140, table 2: RoCE v2, SEND";
constexpr const char* kPerftest = "perftest, issue 225: ib_write_bw, InfiniBand";
constexpr const char* kIperf = "TCP: prefetch.net, The Power of Locality in VMware vSphere";
constexpr const char* kComputed = "computed: 1024 of 1106 bytes a frame of RoCE v2 are data";
constexpr const char* kMemory = "made up: a copy in memory";
constexpr const char* kLow = "made up: TCP of 20 Gb/s";
constexpr const char* kRatio =
    "bandwidths in the ratio of OpenFOAM's run times, which tells nothing";

struct Row {
  const char* what;
  const char* source;  // of the bandwidth
  double latency_us, bandwidth_mb_s, tcp_latency_us, tcp_bandwidth_mb_s, line_gbit;
  const char* hosts;  // of the two VMs, as prompts have them; empty: no properties were pasted
  const char* nics;   // "Physical HCA available" of each
  const char* path;
  bool sure;
};

const Row kRows[] = {
    // Native RDMA. Only the hosts can tell it from memory.
    {"10GbE", kComputed, 5, 9.26 * kGbit, 30, 9.41 * kGbit, kNone, "", "", "rdma", true},
    {"10GbE", kComputed, 5, 9.26 * kGbit, 30, 9.41 * kGbit, 10, "", "", "rdma", true},
    {"10GbE", kComputed, 5, 9.26 * kGbit, 30, 9.41 * kGbit, 10, "ab", "11", "native", true},
    {"25GbE", kBlueField, 4, 23 * kGbit, 28, 2850, kNone, "", "", "rdma", true},
    {"25GbE", kBlueField, 4, 23 * kGbit, 28, 2850, 25, "", "", "rdma", true},
    {"25GbE", kBlueField, 4, 23 * kGbit, 28, 2850, kNone, "ab", "11", "native", true},
    {"25GbE, busy VMs", kBlueField, 20, 23 * kGbit, 60, 2850, 25, "", "", "rdma", true},
    {"40GbE", kHpc, 4, 4395.71 * kMiB, 28, 2500, kNone, "", "", "rdma", true},
    {"40GbE", kHpc, 4, 4395.71 * kMiB, 28, 2500, 40, "", "", "rdma", true},
    {"40GbE", kHpc, 4, 4395.71 * kMiB, 28, 2500, 40, "ab", "11", "native", true},
    {"100GbE", kGuide, 3, 96.31 * kGbit, 25, 6000, kNone, "", "", "rdma", true},
    {"100GbE", kGuide, 3, 96.31 * kGbit, 25, 6000, 100, "", "", "rdma", true},
    {"100GbE", kGuide, 3, 96.31 * kGbit, 25, 6000, 100, "ab", "11", "native", true},
    {"100GbE, small MTU", kRoce, 3, 94.5 * kGbit, 25, 6000, 100, "", "", "rdma", true},
    {"100GbE, large MTU", kRoce, 3, 97.6 * kGbit, 25, 6000, 100, "", "", "rdma", true},
    {"100 Gb/s", kPerftest, 2, 11728.47 * kMiB, 25, 6000, 100, "", "", "rdma", true},
    {"100GbE, quick TCP", kGuide, 8, 96.31 * kGbit, 14, 6000, 100, "", "", "rdma", true},
    {"200GbE", kNccl, 3, 24'000, 25, 6000, kNone, "", "", "rdma", true},
    {"200GbE", kNccl, 3, 24'000, 25, 6000, 200, "", "", "rdma", true},
    {"200GbE", kNccl, 3, 24'000, 25, 6000, 200, "ab", "11", "native", true},
    {"200 Gb/s", kUcx, 3, 23'000 * kMiB, 25, 6000, 200, "", "", "rdma", true},
    // One host, at any speed.
    {"one host", kMemory, 3, 7000, 25, 3500, kNone, "", "", "rdma", true},
    {"one host, 10GbE", kMemory, 3, 7000, 25, 3500, 10, "", "", "same-host", true},
    {"one host, 25GbE", kMemory, 3, 7000, 25, 3500, 25, "", "", "same-host", true},
    {"one host, 40GbE", kMemory, 3, 7000, 25, 3500, 40, "", "", "same-host", true},
    {"one host, 100GbE", kMemory, 3, 7000, 25, 3500, 100, "", "", "rdma", true},
    {"one host, fast", kMemory, 2, 20'000, 15, 9000, kNone, "", "", "rdma", true},
    {"one host, fast, 100GbE", kMemory, 2, 20'000, 15, 9000, 100, "", "", "same-host", true},
    {"one host, fast, 200GbE", kMemory, 2, 20'000, 15, 9000, 200, "", "", "rdma", true},
    {"one host, by TCP's rate", kIperf, 3, 1100, 15, 28.3 * kGbit, 10, "", "", "same-host", true},
    {"one host, as it says", kMemory, 3, 7000, 25, 3500, kNone, "aa", "11", "same-host", true},
    {"one host without NIC", kMemory, 3, 7000, 25, 3500, kNone, "??", "00", "same-host", true},
    {"hosts not named", kMemory, 3, 7000, 25, 3500, kNone, "??", "11", "rdma", true},
    {"hosts with a default name", kMemory, 3, 7000, 25, 3500, kNone, "ll", "11", "rdma", true},
    {"NICs not told", kMemory, 3, 7000, 25, 3500, kNone, "ab", "--", "native", true},
    // Fall-backs. Latency and bandwidth are TCP's, or a little better, without the VMs' TCP.
    {"fall-back", kLow, 60, 2400, 55, 2500, kNone, "", "", "tcp-fall-back", false},
    {"fall-back, 100GbE", kLow, 45, 2500, 55, 2500, 100, "", "", "tcp-fall-back", false},
    {"fall-back, 1.3 times", kLow, 45, 3250, 55, 2500, kNone, "", "", "tcp-fall-back", false},
    {"fall-back, quick TCP", kLow, 9, 6000, 9.5, 6000, kNone, "", "", "tcp-fall-back", false},
    {"fall-back, one NIC", kLow, 60, 2400, 55, 2500, kNone, "ab", "10", "tcp-fall-back", true},
    {"fall-back, no NIC", kLow, 60, 2400, 55, 2500, kNone, "??", "0-", "tcp-fall-back", true},
    {"1.49 times TCP's", kRatio, kNone, 1490, kNone, 1000, kNone, "", "", "unclear", false},
    {"1.32 times TCP's", kRatio, kNone, 1320, kNone, 1000, kNone, "", "", "unclear", false},
    {"1.82 times TCP's", kRatio, kNone, 1820, kNone, 1000, kNone, "", "", "unclear", false},
    // Signs that do not tell, or contradict each other.
    {"between both", kLow, 36, 4000, 55, 2500, kNone, "", "", "unclear", false},
    {"native as slow as TCP", kLow, 60, 2400, 55, 2500, kNone, "ab", "11", "unclear", false},
    {"faster than the wire", kMemory, 3, 7000, 25, 3500, 25, "ab", "11", "unclear", false},
    {"faster, as slow as TCP", kMemory, 60, 7000, 55, 2500, 25, "", "", "unclear", false},
    {"nothing", kMemory, kNone, kNone, kNone, kNone, kNone, "", "", "unclear", false},
};

std::optional<double> given(double value) {
  return value > 0 ? std::optional{value} : std::nullopt;
}

std::vector<AdapterProperties> properties_of(const Row& row) {
  return *row.hosts == '\0' ? std::vector<AdapterProperties>{}
                            : adapter_properties(test::pasted_properties(row.hosts, row.nics));
}

}  // namespace

TEST_CASE("the path of each pair") {
  for (const Row& row : kRows) {
    INFO(row.what << ", line rate " << row.line_gbit << " Gb/s, hosts " << row.hosts << ", NICs "
                  << row.nics << "; " << row.source);
    const PathVerdict verdict =
        classify({given(row.latency_us), given(row.bandwidth_mb_s), given(row.tcp_latency_us),
                  given(row.tcp_bandwidth_mb_s), given(row.line_gbit * kGbit)},
                 hosts_of(properties_of(row), test::kOwnMac, test::kPeerMac));
    CHECK(std::string{words_of(verdict.path).id} == row.path);
    CHECK(verdict.sure == row.sure);
    CHECK_FALSE(verdict.reasons.empty());
  }
}

TEST_CASE("the path of each pair as a mesh of two") {
  for (const Row& row : kRows) {
    if (row.latency_us == kNone) continue;  // a mesh has all figures
    INFO(row.what << ", line rate " << row.line_gbit << " Gb/s");
    Mesh mesh;
    mesh.size = 2;
    mesh.machines = {{"a", address_of(0), "d", test::kOwnMac},
                     {"b", address_of(1), "d", test::kPeerMac}};
    // The faster direction counts.
    const PairFigures figures{row.latency_us,     row.latency_us,         row.bandwidth_mb_s / 2,
                              row.bandwidth_mb_s, row.bandwidth_mb_s,     1e6,
                              row.tcp_latency_us, row.tcp_bandwidth_mb_s, {}};
    mesh.pairs.push_back({address_of(0), address_of(1), figures, ""});
    mesh.line_rate_mb_s = given(row.line_gbit * kGbit);
    mesh.properties = properties_of(row);
    const Judgement judgement = judge(mesh);
    CHECK(to_json(mesh, judgement)["pairs"][0]["path"] == row.path);
    CHECK(to_csv(mesh, judgement).find(std::string{","} + row.path + ",") != std::string::npos);
    CHECK(heat_map(mesh, judgement).find(std::string{", "} + row.path + "</title>") !=
          std::string::npos);
  }
}

TEST_CASE("the words of a verdict say what to give where two paths are not told apart") {
  const Measured measured{3, 7000, 25, 3500, {}};
  CHECK(classify(measured).reasons.back().find("--line-rate or --host-properties") !=
        std::string::npos);
  const Hosts unnamed = hosts_of(adapter_properties(test::pasted_properties("??", "11")),
                                 test::kOwnMac, test::kPeerMac);
  CHECK(unnamed.reasons.back().find("copy the prompts") != std::string::npos);
}

TEST_CASE("properties count only for adapters that are found by their MAC address") {
  const auto both = adapter_properties(test::pasted_properties("ab", "11"));
  CHECK(hosts_of(both, test::kOwnMac, test::kPeerMac).have_nics == true);
  CHECK(hosts_of(both, test::kPeerMac, test::kOwnMac).are_one == false);
  for (const char* mac : {"", "00:50:56:00:00:09"}) {
    const Hosts hosts = hosts_of(both, test::kOwnMac, mac);
    CHECK_FALSE(hosts.have_nics);
    CHECK_FALSE(hosts.are_one);
    CHECK(hosts.reasons.size() == 2);
  }
  // Below one prompt: the second may be pasted from another host.
  const Hosts below = hosts_of(adapter_properties(test::pasted_properties("a=", "11")),
                               test::kOwnMac, test::kPeerMac);
  CHECK_FALSE(below.are_one);
}

TEST_CASE("one host by the names of its prompts, and by those that ssh is given") {
  const auto are_one = [](const char* own, const char* peer) {
    const std::string pasted = test::pasted_properties("ab", "11");
    const std::size_t second = pasted.find("[root@esx0b:~] ");
    return hosts_of(adapter_properties(own + pasted.substr(15, second - 15) + peer +
                                       pasted.substr(second + 15)),
                    test::kOwnMac, test::kPeerMac)
        .are_one;
  };
  CHECK(are_one("me@jump:~$ ssh root@esx01 ", "me@jump:~$ ssh root@esx02 ") == false);
  CHECK(are_one("me@jump:~$ ssh root@esx01 ", "me@jump:~$ ssh root@esx01 ") == true);
  // A short name and the whole one, or a name and an address, may be one host's.
  CHECK(are_one("[root@esx01:~] ", "me@jump:~$ ssh root@ESX01.example.org ") == std::nullopt);
  CHECK(are_one("[root@esx01:~] ", "me@jump:~$ ssh root@esx02.example.org ") == false);
  CHECK(are_one("[root@esx01:~] ", "me@jump:~$ ssh root@192.0.2.7 ") == std::nullopt);
  CHECK(are_one("me@jump:~$ ssh 192.0.2.7 ", "me@jump:~$ ssh 192.0.2.7 ") == true);
}

}  // namespace pvrdma::verify
