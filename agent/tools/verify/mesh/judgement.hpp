// SPDX-License-Identifier: GPL-2.0-or-later
// Judges a mesh's figures: which pairs stand out, and which machine is the cause. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent/tools/verify/hosts.hpp"
#include "agent/tools/verify/mesh/pair_result.hpp"
#include "agent/tools/verify/peer/path.hpp"

namespace pvrdma::verify {

struct Mesh {
  std::size_t size = 0;           // number of machines expected
  std::vector<Machine> machines;  // the machines that came
  std::vector<PairResult> pairs;  // the pairs that were tried, each once
  // What the user knows of the hosts.
  std::optional<double> line_rate_mb_s{};
  std::vector<AdapterProperties> properties{};
};
// The number of pairs with figures.
[[nodiscard]] std::size_t measured(const Mesh& mesh);

struct JudgedPair {
  std::size_t from = 0, to = 0;  // in Mesh::machines
  std::optional<Path> path;      // none: the pair has no figures
  std::vector<std::string> bad;  // the reasons why the pair is not good
};

// How far the figures of the pairs with one path lie apart.
struct Spread {
  Path path = Path::Unclear;
  std::size_t pairs = 0;
  std::size_t unclear = 0;           // of these, pairs whose own path is not clear
  std::vector<std::string> figures;  // "latency 8.0 us (7.8 to 8.3)": the median, and all
};

struct Judgement {
  std::vector<JudgedPair> pairs;  // as in Mesh::pairs
  std::vector<Spread> spreads;
  std::vector<std::size_t> blamed;   // machines that are bad with each of several partners, where
                                     // one of these partners is good elsewhere
  std::vector<std::size_t> unclear;  // bad pairs that no blamed machine explains
  bool all_over_tcp = false;         // pairs go over TCP, none by RDMA, and fewer are unclear
  std::optional<double> smallest_mtu_bytes;
};

[[nodiscard]] Judgement judge(const Mesh& mesh);

// 0: all pairs are good; 1: some stand out, or go over TCP; 2: some failed, or machines are
// missing; 3: no pair was measured.
[[nodiscard]] int exit_code(const Mesh& mesh, const Judgement& judgement);

}  // namespace pvrdma::verify
