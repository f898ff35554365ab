// Recordings of real daemons, replayed: step() decides as it did. Where a decision is meant to
// change, `tests/replay RECORDING >DECISIONS` writes down the new one.
#include <filesystem>

#include "agent/base/file.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/codec/decisions.hpp"
#include "tests/unit/places.hpp"

using namespace pvrdma;

TEST_CASE("step() decides on each recording as is written down beside it") {
  const std::filesystem::path folder = std::filesystem::path{places::fixtures} / "recordings";
  int recordings = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    INFO(file.path().filename());
    ++recordings;
    const auto text = read_file(file.path());
    REQUIRE(text);
    const auto recording = codec::recording_from(*text);
    REQUIRE(recording);
    auto decided = file.path();
    decided.replace_extension(".txt");
    CHECK(test::decisions(*recording) == read_file(decided).value());
  }
  CHECK(recordings > 0);
}
