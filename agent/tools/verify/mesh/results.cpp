// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/mesh/results.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/verify/mesh/rendering.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::verify {

namespace {

constexpr const char* kPairs = "pairs.jsonl";
// Enough for all pairs of a thousand machines, 250 bytes each.
constexpr std::size_t kPairsAtMostBytes = std::size_t{256} << 20U;

}  // namespace

Result<Results> Results::open(const std::filesystem::path& folder, bool resume) {
  if (auto made = make_directories(folder); !made) return fail(std::move(made.error()));
  Results results;
  results.folder_ = folder;
  const auto path = folder / kPairs;
  // O_NONBLOCK: the open of a FIFO does not wait.
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  results.pairs_ = Fd{::open(path.c_str(), kFlags, 0644)};
  struct stat status {};
  if (!results.pairs_ || ::fstat(results.pairs_.get(), &status) != 0)
    return fail(errno, "writing", path);
  if (!S_ISREG(status.st_mode)) return fail(0, "the pairs' file is no regular file:", path);
  // The file of a mesh that never met is empty.
  const bool has_pairs = status.st_size > 0;
  if (has_pairs && !resume)
    return fail(EEXIST, "writing", path.string() + " (--resume goes on with it)");
  // The last line of an earlier run may be cut off: a newline ends it.
  if (has_pairs && ::write(results.pairs_.get(), "\n", 1) != 1) return fail(errno, "writing", path);
  return results;
}

Result<std::vector<PairResult>> Results::earlier() const {
  const auto path = folder_ / kPairs;
  if (::lseek(pairs_.get(), 0, SEEK_SET) != 0) return fail(errno, "reading", path);
  const auto text = read_file(pairs_, path, kPairsAtMostBytes);
  if (!text) return fail(text.error());
  std::vector<PairResult> pairs;
  // The last line is cut off where the writer was killed.
  for (std::string_view rest = *text; !rest.empty();)
    if (auto pair = varlink::parse_object(cut(rest, '\n')).and_then(pair_result_from);
        pair && pair->figures)
      pairs.push_back(std::move(*pair));
  return pairs;
}

Result<void> Results::keep(const PairResult& result) const {
  const std::string line = ctl::dumped(verify::to_json(result), -1) + "\n";
  const ssize_t written = ::write(pairs_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return {};
  return fail(written < 0 ? errno : ENOSPC, "writing", folder_ / kPairs);
}

Result<void> Results::write(const Mesh& mesh, const Judgement& judgement) const {
  constexpr mode_t kMode = 0644;
  return replace_file(folder_ / "mesh.json",
                      ctl::dumped(verify::to_json(mesh, judgement), 1) + "\n", kMode)
      .and_then([&] { return replace_file(folder_ / "mesh.csv", to_csv(mesh, judgement), kMode); })
      .and_then(
          [&] { return replace_file(folder_ / "mesh.svg", heat_map(mesh, judgement), kMode); });
}

}  // namespace pvrdma::verify
