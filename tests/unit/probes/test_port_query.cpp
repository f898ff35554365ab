#include "probes/port_query.hpp"

#include <sys/wait.h>

#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using pvrdma::test::Tree;

namespace {

constexpr const char* kLine =
    "state=ACTIVE phys_state=LINK_UP active_mtu=1024 link_layer=Ethernet\n";

Result<probes::PortAnswer> query(const Tree& tree, const std::string& script,
                                 Milliseconds timeout = std::chrono::seconds{20}) {
  tree.program("/query", script);
  return probes::run_port_query(tree / "/query", "rocep19s0f1", timeout);
}

}  // namespace

TEST_CASE("port-query's line") {
  const auto answer = probes::parse_port_answer(kLine);
  REQUIRE(answer);
  CHECK(*answer == probes::PortAnswer{"ACTIVE", 1024});
  const auto grown = probes::parse_port_answer("new=1 odd state=DOWN  active_mtu=4096");
  REQUIRE(grown);
  CHECK(*grown == probes::PortAnswer{"DOWN", 4096});
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
  CHECK(answer->state == "ACTIVE");
}

TEST_CASE("a failure carries the program's own line") {
  const Tree tree;
  const auto answer = query(tree, "echo 'port-query: opening x: No such device' >&2; exit 1");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == EREMOTEIO);
  CHECK(answer.error().message().find("opening x: No such device") != std::string::npos);
  CHECK(query(tree, "kill -SEGV $$").error().code == EREMOTEIO);
  CHECK(query(tree, "echo nonsense").error().code == EBADMSG);
}

TEST_CASE("no answer in time is a time-out, whoever notices") {
  const Tree tree;
  CHECK(query(tree, "exit 124").error().code == ETIMEDOUT);
  const BootTime start = BootClock::now();
  CHECK(query(tree, "exec sleep 60", Milliseconds{200}).error().code == ETIMEDOUT);
  CHECK(query(tree, "exec >&- 2>&-; exec sleep 60", Milliseconds{200}).error().code == ETIMEDOUT);
  CHECK(BootClock::now() - start < std::chrono::seconds{30});
  // Nobody is left behind.
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a program that writes without end is read without end of memory") {
  const Tree tree;
  CHECK_FALSE(
      query(tree, "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", Milliseconds{300}));
}

TEST_CASE("a program that is not there") {
  const auto answer = probes::run_port_query("/nowhere/port-query", "rocep19s0f1");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ENOENT);
}
