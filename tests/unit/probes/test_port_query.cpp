// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/port_query.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Tree;

namespace {

constexpr const char* kLine = "state=ACTIVE active_mtu=1024\n";

Result<probes::PortAnswer> query(const Tree& tree, const std::string& script,
                                 Milliseconds patience = std::chrono::seconds{20}) {
  tree.program("/query", script);
  return probes::PortQuery{tree / "/query", patience}.ask("rocep19s0f1");
}

}  // namespace

TEST_CASE("port-query's line") {
  const auto answer = probes::parse_port_answer(kLine);
  REQUIRE(answer);
  CHECK(*answer == probes::PortAnswer{PortState::Active, 1024});
  const auto grown = probes::parse_port_answer("new=1 odd state=DOWN  active_mtu=4096");
  REQUIRE(grown);
  CHECK(*grown == probes::PortAnswer{PortState::Down, 4096});
  for (const char* bad : {"", "\n", "state=ACTIVE", "active_mtu=1024", "state= active_mtu=1024",
                          "state=ACTIVE active_mtu=many", "\nstate=ACTIVE active_mtu=1024"}) {
    INFO(bad);
    CHECK_FALSE(probes::parse_port_answer(bad));
  }
}

TEST_CASE("the program gets the device's name, no environment and no input") {
  const Tree tree;
  const auto answer =
      query(tree, "read x && exit 1; [ \"$1\" = rocep19s0f1 ] && [ -z \"$HOME$USER\" ] && echo \"" +
                      std::string{kLine} + "\"");
  REQUIRE(answer);
  CHECK(answer->state == PortState::Active);
}

TEST_CASE("a failure carries the program's own line") {
  const Tree tree;
  const auto answer = query(tree, "echo 'port-query: opening x: No such device' >&2; exit 1");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == EREMOTEIO);
  CHECK(answer.error().message().find("opening x: No such device") != std::string::npos);
  const Error crash = query(tree, "kill -SEGV $$").error();
  CHECK(crash.code == EREMOTEIO);
  CHECK(crash.message().find("rocep19s0f1 (signal 11)") != std::string::npos);
  CHECK(query(tree, "echo nonsense").error().code == EBADMSG);
}

TEST_CASE("a program that is late is reported, gets no signal, and its answer is taken later") {
  const Tree tree;
  REQUIRE(::mkfifo((tree / "/answer").c_str(), 0600) == 0);
  tree.program("/query", "trap 'echo signal >>" + (tree / "/signals").string() +
                             "' TERM INT HUP ALRM\necho $$ >>" + (tree / "/started").string() +
                             "\nread line <" + (tree / "/answer").string() + " && echo $line\n");
  probes::PortQuery query{tree / "/query", Milliseconds{200}};
  for (int look = 0; look < 3; ++look) {
    const auto answer = query.ask("rocep19s0f1");
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == ETIMEDOUT);
    CHECK(answer.error().message().find("has not answered for more than") != std::string::npos);
  }
  const std::string process = tree.read("/started");
  CHECK(std::count(process.begin(), process.end(), '\n') == 1);
  CHECK(::kill(static_cast<pid_t>(std::stol(process)), 0) == 0);
  std::ofstream{tree / "/answer"} << kLine;
  auto answer = query.ask("rocep19s0f1");
  for (int tries = 0; tries < 500 && !answer && answer.error().code == ETIMEDOUT; ++tries)
    answer = query.ask("rocep19s0f1");
  REQUIRE(answer);
  CHECK(*answer == probes::PortAnswer{PortState::Active, 1024});
  CHECK_FALSE(std::filesystem::exists(tree / "/signals"));
  // The process has been reaped.
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("the output of a program that writes without end takes bounded memory") {
  const Tree tree;
  const auto answer =
      query(tree, "while echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; do :; done", Milliseconds{300});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ETIMEDOUT);
  // The program ends as its pipe has been closed with the query.
  CHECK(::waitpid(-1, nullptr, 0) > 0);
}

TEST_CASE("a program that writes too much is read to its end, and reaped") {
  const Tree tree;
  const auto answer = query(tree, "echo '" + std::string{kLine} +
                                      "'; x=x; while [ ${#x} -lt 100000 ]; do x=$x$x; done; "
                                      "echo $x");
  CHECK((::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));
  REQUIRE(answer);
  CHECK(*answer == probes::PortAnswer{PortState::Active, 1024});
}

TEST_CASE("a missing program") {
  const auto answer = probes::PortQuery{"/nowhere/port-query"}.ask("rocep19s0f1");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ENOENT);
}
