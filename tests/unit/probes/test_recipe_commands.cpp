// SPDX-License-Identifier: GPL-2.0-or-later
// A line of several commands: the words of one say nothing about another.
#include <string>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/recipe_lines.hpp"

using namespace pvrdma::probes;
using pvrdma::test::Lines;
using pvrdma::test::scope;

namespace {

void check_kind(LineKind kind, const Lines& lines) {
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(look_at_command(line, scope()).kind == kind);
  }
}

}  // namespace

TEST_CASE("a service manager's command ends before the words of the next") {
  check_kind(LineKind::Other, {"systemctl restart slurmd; rdma system set netns exclusive",
                               "systemctl restart a && logger -t rdma b"});
  check_kind(LineKind::Port, {"systemctl restart a; rdma link"});
  check_kind(LineKind::Driver, {"systemctl stop slurmd && systemctl restart rdma; sleep 1",
                                "sh -c 'systemctl restart slurmd rdma'"});
}
