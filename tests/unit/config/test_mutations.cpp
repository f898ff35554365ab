// SPDX-License-Identifier: GPL-2.0-or-later
// Seeded mutations of good files: for any text there is an answer of one line. With the sanitizers
// this is the layer's fuzz test.
#include "tests/unit/catch.hpp"
#include "tests/unit/config/config_tree.hpp"
#include "tests/unit/mutate.hpp"

using pvrdma::test::ConfigTree;
using pvrdma::test::kMain;
using pvrdma::test::Mutator;

namespace {

const std::string kGood = R"([modules]
before   = ["mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm"]
required = ["rdma_cm", "rdma_ucm"]
reload   = "auto"
[readiness]
adapters = "all"
timeout  = "90s"
forget_removed = "1h"
[[adapter]]
match     = { mac = "00:50:56:8a:9f:c2" }
manage    = "auto"
mtu       = 9000
addresses = ["192.168.30.201/24", "fd00::1/64"]
)";

const char* const kPieces[] = {"[",
                               "]",
                               "{",
                               "}",
                               "\"",
                               "'",
                               "\"\"\"",
                               "=",
                               ".",
                               "\n",
                               "\r",
                               "#",
                               ",",
                               "\\u",
                               "\\",
                               "0x",
                               "1e999",
                               "-",
                               "\t",
                               "é",
                               "\xff",
                               "::",
                               "/129",
                               "[[a]]",
                               "inf",
                               "1979-05-27",
                               "_",
                               "+",
                               "[[adapter]]\n",
                               "true",
                               "99999999999999999999"};

}  // namespace

TEST_CASE("mutated files are good or yield one line") {
  Mutator mutator{kPieces};
  ConfigTree tree;
  int good = 0;
  int bad = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string text = mutator.mutated(kGood, 1 + mutator.below(6));
    tree.file(kMain, text);
    const std::string line = tree.complaint();
    if (line.empty()) {
      ++good;
      continue;
    }
    ++bad;
    CAPTURE(text, line);
    REQUIRE(line.find(kMain) == 0);
    REQUIRE(line.find('\n') == std::string::npos);
    REQUIRE(line.size() < 600);
  }
  // Some mutations must be harmless, and some not.
  CHECK(good > 10);
  CHECK(bad > 10);
}
