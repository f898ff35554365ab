// SPDX-License-Identifier: GPL-2.0-or-later
// A mesh's results in a folder: each pair's as it comes, and what all come to.
#pragma once

#include <filesystem>
#include <vector>

#include "agent/base/handle.hpp"
#include "agent/tools/verify/mesh/judgement.hpp"

namespace pvrdma::verify {

class Results {
 public:
  // Makes the folder. EEXIST: it holds an earlier mesh, and `resume` is not set.
  [[nodiscard]] static Result<Results> open(const std::filesystem::path& folder, bool resume);

  // The pairs that were measured before; what failed is to be tried again.
  [[nodiscard]] Result<std::vector<PairResult>> earlier() const;
  [[nodiscard]] Result<void> keep(const PairResult& result) const;
  // mesh.json, mesh.csv and mesh.svg.
  [[nodiscard]] Result<void> write(const Mesh& mesh, const Judgement& judgement) const;

 private:
  std::filesystem::path folder_;
  Fd pairs_;  // pairs.jsonl, to append to
};

}  // namespace pvrdma::verify
