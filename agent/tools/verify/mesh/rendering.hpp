// SPDX-License-Identifier: GPL-2.0-or-later
// Renders a mesh's figures for a person, a program and a spreadsheet, and as a picture. Pure.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/tools/verify/mesh/judgement.hpp"

namespace pvrdma::verify {

// Outliers come first; for up to twelve machines a table of latencies and bandwidths follows.
[[nodiscard]] std::string render(const Mesh& mesh, const Judgement& judgement,
                                 const ctl::Style& style);
// Matrices by machine; null: there is no figure.
[[nodiscard]] nlohmann::json to_json(const Mesh& mesh, const Judgement& judgement);
// One line for each pair (RFC 4180).
[[nodiscard]] std::string to_csv(const Mesh& mesh, const Judgement& judgement);
// SVG 1.1, without script or outside resources: one cell for each pair. Darker is worse; an outlier
// has a red frame, a missing figure is crossed out. A cell's tooltip has its figure and path.
[[nodiscard]] std::string heat_map(const Mesh& mesh, const Judgement& judgement);

// A figure for each pair of machines.
using Matrix = std::vector<std::vector<std::optional<double>>>;

struct MatrixKind {
  const char* key;  // in JSON
  const char* title;
  bool less_is_better;
  std::optional<double> (*of)(const PairFigures& figures, bool from_measured);
};

// The row's machine sends. Latency and MTU are the same both ways.
inline constexpr std::array<MatrixKind, 3> kMatrices{{
    {"latency_us", "latency, us", true,
     [](const PairFigures& of, bool) { return std::optional{of.latency_us}; }},
    {"bandwidth_mb_s", "bandwidth, MB/s, from row to column", false,
     [](const PairFigures& of, bool out) { return std::optional{out ? of.out_mb_s : of.in_mb_s}; }},
    {"mtu_bytes", "MTU, bytes", false, [](const PairFigures& of, bool) { return of.mtu_bytes; }},
}};

[[nodiscard]] Matrix matrix_of(const Mesh& mesh, const Judgement& judgement,
                               const MatrixKind& kind);

}  // namespace pvrdma::verify
