// SPDX-License-Identifier: GPL-2.0-or-later
// A mesh's results in a folder: each pair's result as it comes, and the final judgement.
#pragma once

#include <filesystem>
#include <vector>

#include "agent/base/handle.hpp"
#include "agent/tools/verify/mesh/judgement.hpp"

namespace pvrdma::verify {

class Results {
 public:
  // Makes the folder. EEXIST: it holds pairs of an earlier mesh, and
  // `resume` is false.
  [[nodiscard]] static Result<Results> open(const std::filesystem::path& folder, bool resume);

  // The pairs measured before, without those that failed: they are tried again.
  [[nodiscard]] Result<std::vector<PairResult>> earlier() const;
  [[nodiscard]] Result<void> keep(const PairResult& result) const;
  // Writes mesh.json, mesh.csv and mesh.svg.
  [[nodiscard]] Result<void> write(const Mesh& mesh, const Judgement& judgement) const;

 private:
  std::filesystem::path folder_;
  Fd pairs_;  // pairs.jsonl, open for appending
};

}  // namespace pvrdma::verify
