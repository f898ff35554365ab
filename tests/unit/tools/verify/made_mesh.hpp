// SPDX-License-Identifier: GPL-2.0-or-later
// Meshes of made-up machines with realistic figures.
#pragma once

#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "agent/tools/verify/mesh/coordinator.hpp"

namespace pvrdma::verify {

inline std::string address_of(std::size_t machine) {
  return "10.0." + std::to_string(machine / 250) + "." + std::to_string(machine % 250 + 1);
}

inline PairFigures native() { return {8, 12, 9000, 9100, 14000, 1e6, 40, 3000, 9000}; }
inline PairFigures same_host() { return {2, 3, 20000, 20000, 30000, 2e6, 30, 5000, 9000}; }
inline PairFigures over_tcp() { return {45, 80, 2900, 2900, 4000, 1e5, 40, 3000, 9000}; }

// Every pair of `size` machines, with figures that differ by some percent.
inline Mesh mesh_of(std::size_t size, std::size_t rounds) {
  Mesh mesh;
  mesh.size = size;
  for (std::size_t n = 0; n < size; ++n)
    mesh.machines.push_back({"vm" + std::to_string(n), address_of(n), "rocep0s16f1"});
  std::minstd_rand random{7};
  std::uniform_real_distribution<double> noise{0.97, 1.03};
  for (const auto& round : schedule(size, rounds))
    for (const auto& [listener, client] : round) {
      PairFigures figures = native();
      figures.latency_us *= noise(random);
      figures.out_mb_s *= noise(random);
      figures.in_mb_s *= noise(random);
      figures.both_mb_s *= noise(random);
      mesh.pairs.push_back({address_of(client), address_of(listener), figures, ""});
    }
  return mesh;
}

template <typename Change>
void change_pairs_of(Mesh& mesh, std::size_t machine, Change change) {
  for (PairResult& pair : mesh.pairs)
    if (pair.from == address_of(machine) || pair.to == address_of(machine)) change(pair);
}

inline PairResult& pair_of(Mesh& mesh, std::size_t one, std::size_t other) {
  for (PairResult& pair : mesh.pairs)
    if (std::set{pair.from, pair.to} == std::set{address_of(one), address_of(other)}) return pair;
  throw std::logic_error{"no such pair"};
}

}  // namespace pvrdma::verify
