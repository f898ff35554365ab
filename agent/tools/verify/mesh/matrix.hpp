// A figure of each pair, by machine. Pure.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "agent/tools/verify/mesh/judgement.hpp"

namespace pvrdma::verify {

using Matrix = std::vector<std::vector<std::optional<double>>>;

struct MatrixKind {
  const char* key;  // in JSON
  const char* title;
  bool less_is_better;
  std::optional<double> (*of)(const PairFigures& figures, bool from_measured);
};

// Row: who sends. Latency and MTU are the same both ways.
inline constexpr std::array<MatrixKind, 3> kMatrices{{
    {"latency_us", "latency, us", true,
     [](const PairFigures& of, bool) { return std::optional{of.latency_us}; }},
    {"bandwidth_mb_s", "bandwidth, MB/s, from row to column", false,
     [](const PairFigures& of, bool out) { return std::optional{out ? of.out_mb_s : of.in_mb_s}; }},
    {"mtu_bytes", "MTU, bytes", false, [](const PairFigures& of, bool) { return of.mtu_bytes; }},
}};

[[nodiscard]] inline Matrix matrix_of(const Mesh& mesh, const Judgement& judgement,
                                      const MatrixKind& kind) {
  const std::size_t size = mesh.machines.size();
  Matrix matrix(size, std::vector<std::optional<double>>(size));
  for (std::size_t at = 0; at < mesh.pairs.size(); ++at) {
    const JudgedPair& pair = judgement.pairs[at];
    const auto& figures = mesh.pairs[at].figures;
    if (!figures) continue;
    matrix[pair.from][pair.to] = kind.of(*figures, true);
    matrix[pair.to][pair.from] = kind.of(*figures, false);
  }
  return matrix;
}

}  // namespace pvrdma::verify
