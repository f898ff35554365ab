// SPDX-License-Identifier: GPL-2.0-or-later
// replay FILE: prints the agent's decision on each event of a recording (`pvrdma-agentctl report
// --recording`), with the reason.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "agent/base/file.hpp"
#include "tests/unit/codec/decisions.hpp"

int main(int argc, char** argv) {
  using namespace pvrdma;
  if (argc != 2) {
    std::fprintf(stderr, "usage: replay FILE\n");
    return 2;
  }
  const auto text = read_file(argv[1], std::size_t{4} << 20U);
  const auto recording =
      text ? test::recording_from(*text) : Result<test::Recording>{fail(text.error())};
  if (!recording) {
    std::fprintf(stderr, "%s\n", printable(recording.error().message()).c_str());
    return 1;
  }
  std::fputs(test::decisions(*recording).c_str(), stdout);
  return 0;
}
