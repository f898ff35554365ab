// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/mesh/judgement.hpp"
#include "agent/base/format.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace pvrdma::verify {

namespace {

// A figure stands out where it is worse than the median of all pairs with the same path by more
// than five times their median absolute deviation (MAD, scaled to a standard deviation by 1.4826;
// Leys et al., J. Exp. Soc. Psychology 49, 2013) and by more than a fifth of the median. Only pairs
// with the same path are compared, as memory of one host is usually faster than the wire.
constexpr double kDeviations = 5 * 1.4826;
constexpr double kPartOfMedian = 0.2;
constexpr std::size_t kPairsAtLeast = 3;  // fewer have no typical figure

struct Figure {
  const char* name;
  const char* unit;
  int decimals;
  bool less_is_better;
  double (*of)(const PairFigures&);
};
constexpr Figure kFigures[] = {
    {"latency", "us", 1, true, [](const PairFigures& of) { return of.latency_us; }},
    {"bandwidth", "MB/s", 0, false, [](const PairFigures& of) { return of.slower_way_mb_s(); }},
    {"bandwidth both ways", "MB/s", 0, false, [](const PairFigures& of) { return of.both_mb_s; }}};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Marks those of `members`, all with the same path, whose figure stands out. Returns all of them in
// one line: if most machines are slow, no pair stands out.
std::string mark_outliers(const Mesh& mesh, Path path, const std::vector<std::size_t>& members,
                          const Figure& figure, Judgement& judgement) {
  std::vector<double> values, deviations;
  values.reserve(members.size());
  for (const std::size_t at : members) values.push_back(figure.of(*mesh.pairs[at].figures));
  const double median = median_of(values);
  const auto told = [&](double value) { return formatted("{:.{}f}", value, figure.decimals); };
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  std::string all = formatted("{} {} {} ({} to {})", figure.name, told(median), figure.unit,
                              told(*least), told(*most));
  if (members.size() < kPairsAtLeast) return all;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - median));
  const double far = std::max(kDeviations * median_of(deviations), kPartOfMedian * median);
  for (std::size_t n = 0; n < members.size(); ++n) {
    const double worse = figure.less_is_better ? values[n] - median : median - values[n];
    if (worse <= far) continue;
    judgement.pairs[members[n]].bad.push_back(
        formatted("{} {} {}; the median of {} {} pairs is {}", figure.name, told(values[n]),
                  figure.unit, members.size(), words_of(path).id, told(median)));
  }
  return all;
}

using Classes = std::map<Path, std::vector<std::size_t>>;

Classes by_path(const Judgement& judgement) {
  Classes classes;
  for (std::size_t at = 0; at < judgement.pairs.size(); ++at)
    if (judgement.pairs[at].path) classes[*judgement.pairs[at].path].push_back(at);
  return classes;
}

// Very bad figures may hide a pair's path; such a pair is compared with those of the most common
// path.
Classes comparable(Classes classes) {
  const auto unclear = classes.find(Path::Unclear);
  const auto most = std::max_element(
      classes.begin(), classes.end(),
      [](const auto& one, const auto& other) { return one.second.size() < other.second.size(); });
  if (unclear == classes.end() || most == unclear) return classes;
  most->second.insert(most->second.end(), unclear->second.begin(), unclear->second.end());
  classes.erase(unclear);
  return classes;
}

// A machine sends packets only as large as its smallest path allows, so a smaller path is a fault:
// an MTU was left unchanged on a switch or an interface.
void mark_small_mtus(const Mesh& mesh, Judgement& judgement) {
  double largest = 0;
  for (const PairResult& pair : mesh.pairs)
    if (pair.figures && pair.figures->mtu_bytes) {
      const double mtu = *pair.figures->mtu_bytes;
      largest = std::max(largest, mtu);
      judgement.smallest_mtu_bytes = std::min(judgement.smallest_mtu_bytes.value_or(mtu), mtu);
    }
  for (std::size_t at = 0; at < mesh.pairs.size(); ++at)
    if (const auto& figures = mesh.pairs[at].figures;
        figures && figures->mtu_bytes && *figures->mtu_bytes < largest)
      judgement.pairs[at].bad.push_back(
          formatted("the path carries packets of {:.0f} bytes; others carry {:.0f}",
                    *figures->mtu_bytes, largest));
}

void mark_fall_backs(const Classes& classes, Judgement& judgement) {
  const auto over_tcp = classes.find(Path::TcpFallBack);
  if (over_tcp == classes.end()) return;
  const auto unclear = classes.find(Path::Unclear);
  judgement.all_over_tcp =
      !classes.contains(Path::Rdma) && !classes.contains(Path::Native) &&
      (unclear == classes.end() || unclear->second.size() < over_tcp->second.size());
  if (judgement.all_over_tcp) return;  // the headline says that once for all
  for (const std::size_t at : over_tcp->second)
    judgement.pairs[at].bad.emplace_back("it goes over TCP, which vSphere has fallen back to");
}

void blame(std::size_t machines, Judgement& judgement) {
  std::vector<std::size_t> tried(machines), bad(machines), with_fine(machines);
  for (const JudgedPair& pair : judgement.pairs)
    for (const std::size_t machine : {pair.from, pair.to}) {
      ++tried[machine];
      if (!pair.bad.empty()) ++bad[machine];
    }
  for (const JudgedPair& pair : judgement.pairs) {
    if (bad[pair.to] < tried[pair.to]) ++with_fine[pair.from];
    if (bad[pair.from] < tried[pair.from]) ++with_fine[pair.to];
  }
  for (std::size_t machine = 0; machine < machines; ++machine)
    if (tried[machine] > 1 && bad[machine] == tried[machine] && with_fine[machine] > 0)
      judgement.blamed.push_back(machine);
  const auto is_blamed = [&](std::size_t machine) {
    return std::binary_search(judgement.blamed.begin(), judgement.blamed.end(), machine);
  };
  for (std::size_t at = 0; at < judgement.pairs.size(); ++at) {
    const JudgedPair& pair = judgement.pairs[at];
    if (!pair.bad.empty() && !is_blamed(pair.from) && !is_blamed(pair.to))
      judgement.unclear.push_back(at);
  }
}

}  // namespace

std::size_t measured(const Mesh& mesh) {
  return static_cast<std::size_t>(
      std::count_if(mesh.pairs.begin(), mesh.pairs.end(),
                    [](const PairResult& pair) { return pair.figures.has_value(); }));
}

Judgement judge(const Mesh& mesh) {
  Judgement judgement;
  std::map<std::string, std::size_t> numbers;
  for (std::size_t n = 0; n < mesh.machines.size(); ++n) numbers[mesh.machines[n].address] = n;
  for (const PairResult& pair : mesh.pairs) {
    JudgedPair judged{numbers.at(pair.from), numbers.at(pair.to), std::nullopt, {}};
    if (const auto& of = pair.figures)
      judged.path = classify({of->latency_us, std::max(of->out_mb_s, of->in_mb_s),
                              of->tcp_latency_us, of->tcp_bandwidth_mb_s, mesh.line_rate_mb_s},
                             hosts_of(mesh.properties, mesh.machines[judged.from].mac,
                                      mesh.machines[judged.to].mac))
                        .path;
    else
      judged.bad.push_back(pair.failed);
    judgement.pairs.push_back(std::move(judged));
  }
  const auto classes = by_path(judgement);
  mark_fall_backs(classes, judgement);
  for (const auto& [path, members] : comparable(classes)) {
    const auto own = classes.find(path);
    Spread spread{path, members.size(), members.size() - own->second.size(), {}};
    for (const Figure& figure : kFigures)
      spread.figures.push_back(mark_outliers(mesh, path, members, figure, judgement));
    judgement.spreads.push_back(std::move(spread));
  }
  mark_small_mtus(mesh, judgement);
  blame(mesh.machines.size(), judgement);
  return judgement;
}

int exit_code(const Mesh& mesh, const Judgement& judgement) {
  if (measured(mesh) == 0) return 3;
  if (measured(mesh) < mesh.pairs.size() || mesh.machines.size() < mesh.size) return 2;
  return judgement.all_over_tcp || !judgement.blamed.empty() || !judgement.unclear.empty() ? 1 : 0;
}

}  // namespace pvrdma::verify
