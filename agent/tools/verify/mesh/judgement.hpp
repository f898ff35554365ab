// SPDX-License-Identifier: GPL-2.0-or-later
// What a mesh's figures mean: which pairs stand out, and whether a machine is to blame. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent/tools/verify/mesh/pair_result.hpp"
#include "agent/tools/verify/peer/path.hpp"

namespace pvrdma::verify {

struct Mesh {
  std::size_t size = 0;           // machines that were to come
  std::vector<Machine> machines;  // that came
  std::vector<PairResult> pairs;  // that were tried, each once
};
// How many pairs have figures.
[[nodiscard]] std::size_t measured(const Mesh& mesh);

struct JudgedPair {
  std::size_t from = 0, to = 0;  // in Mesh::machines
  std::optional<Path> path;      // none: no figures
  std::vector<std::string> bad;  // why it is not as it should be
};

struct Judgement {
  std::vector<JudgedPair> pairs;     // as in Mesh::pairs
  std::vector<std::size_t> blamed;   // machines that are bad with all of several partners, one of
                                     // whom is fine elsewhere
  std::vector<std::size_t> unclear;  // bad pairs that no blamed machine explains
  bool all_over_tcp = false;
  std::optional<double> smallest_mtu_bytes;
};

[[nodiscard]] Judgement judge(const Mesh& mesh);

// 0: all pairs are well; 1: some stand out, or go over TCP; 2: some failed, or machines are
// missing; 3: no pair was measured.
[[nodiscard]] int exit_code(const Mesh& mesh, const Judgement& judgement);

}  // namespace pvrdma::verify
