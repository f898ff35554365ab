// SPDX-License-Identifier: GPL-2.0-or-later
// The recordings of guests (tests/fixtures/recordings) are decided as they were when they were
// made. A decision that is meant to change is written anew: tests/replay NAME.json >NAME.txt; the
// difference shows what the change does to a whole machine.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "agent/base/file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/codec/decisions.hpp"
#include "tests/unit/places.hpp"

using namespace pvrdma;

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry :
       std::filesystem::directory_iterator{std::filesystem::path{places::fixtures} / "recordings"})
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("each recording of a guest leads to the decisions beside it") {
  const auto found = recordings();
  CHECK(found.size() >= 10);
  for (std::filesystem::path path : found) {
    INFO(path.string());
    const auto recording = test::recording_from(read_file(path, kMostBytes).value());
    REQUIRE(recording);
    CHECK(recording->events.size() >= 3);
    CHECK(test::decisions(*recording) ==
          read_file(path.replace_extension(".txt"), kMostBytes).value());
  }
}
