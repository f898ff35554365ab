// SPDX-License-Identifier: GPL-2.0-or-later
// `mtu` over the loopback: real sockets, no other network. The lab has the rest.
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "agent/tools/mtu/command.hpp"
#include "agent/tools/mtu/echo_socket.hpp"
#include "agent/tools/mtu/interface.hpp"
#include "agent/tools/mtu/resolver.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

namespace {

// Whether this process may send echo requests, and has this family.
bool can_ping(const std::string& host) {
  auto resolver = pmtu::Resolver::make(AF_UNSPEC);
  REQUIRE(resolver);
  resolver->ask(0, host);
  const auto answers = resolver->take();
  if (answers.size() == 1 && answers[0].addresses &&
      pmtu::EchoSocket::open(answers[0].addresses->front()))
    return true;
  WARN("skipped: no ICMP socket for " << host);
  return false;
}

fake::Printed run_mtu(const MtuOptions& options, bool json = false, bool live = false) {
  fake::Screen screen;
  screen.console.live = live;
  Settings settings;
  settings.json = json;
  const int code = mtu(settings, screen.console, options);
  return {code, screen.out(), screen.err()};
}

}  // namespace

TEST_CASE("this host itself takes the largest packet there is, in one probe") {
  for (const std::string host : {"127.0.0.1", "::1"}) {
    if (!can_ping(host)) continue;
    const fake::Printed told = run_mtu({{host}});
    CHECK(told.code == 0);
    CHECK(told.err.empty());
    CHECK(told.out.find(host + ": MTU 65535, the largest packet IP has (1 probe, ") == 0);
  }
}

TEST_CASE("several hosts at once, as JSON; one that is none does not keep the others") {
  if (!can_ping("127.0.0.1")) return;
  const fake::Printed told = run_mtu({{"127.0.0.1", "no such host", "127.0.0.2"}}, true);
  CHECK(told.code == 3);
  CHECK(told.err.empty());
  const Json object = Json::parse(told.out);
  REQUIRE(object["hosts"].size() == 3);
  CHECK(object["hosts"][0]["mtu_bytes"] == 65535);
  CHECK(object["hosts"][1]["mtu_bytes"].is_null());
  CHECK(object["hosts"][1]["error"].get<std::string>().find("resolving no such host: ") == 0);
  CHECK(object["hosts"][2]["mtu_bytes"] == 65535);
  CHECK(object["minimum_mtu_bytes"] == 65535);
}

TEST_CASE("an address of the other family is refused in one line") {
  const fake::Printed told = run_mtu({{"127.0.0.1"}, AF_INET6});
  CHECK(told.code == 3);
  CHECK(told.out.empty());
  CHECK(told.err.find("pvrdma-agentctl: 127.0.0.1: resolving 127.0.0.1: ") == 0);
  CHECK(told.err.find('\n') == told.err.size() - 1);
}

TEST_CASE("progress is shown on a terminal, and cleared at the end") {
  if (!can_ping("127.0.0.1")) return;
  const fake::Printed told = run_mtu({{"127.0.0.1", "127.0.0.2"}}, false, true);
  CHECK(told.out.find("\r\x1b[K2 of 2 hosts done, 2 probes\r\x1b[K127.0.0.1: MTU") !=
        std::string::npos);
}

TEST_CASE("a name is resolved to its addresses, without a word to anybody else") {
  auto resolver = pmtu::Resolver::make(AF_INET);
  REQUIRE(resolver);
  resolver->ask(5, "127.0.0.1");
  auto answers = resolver->take();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].index == 5);
  REQUIRE(answers[0].addresses);
  REQUIRE(answers[0].addresses->size() == 1);
  CHECK(answers[0].addresses->front().text == "127.0.0.1");
  CHECK(answers[0].addresses->front().family() == pmtu::Family::Ipv4);
  CHECK(resolver->take().empty());
}

TEST_CASE("the exit code says whether what is expected passes") {
  if (!can_ping("127.0.0.1")) return;
  MtuOptions options{{"127.0.0.1"}};
  options.expect = 65535;
  const fake::Printed told = run_mtu(options);
  CHECK(told.code == 0);
  CHECK(told.out.find("expected: packets of 65535 bytes pass\n") != std::string::npos);
  options.expect = 65536;  // which no path carries
  CHECK(run_mtu(options).code == 2);
  options.hosts = {"no such host"};
  CHECK(run_mtu(options).code == 3);
}

TEST_CASE("only a PVRDMA adapter can be measured from, by any of its names") {
  const test::Tree tree;
  const std::string slot = "/sys/bus/pci/devices/0000:13:00.";
  tree.file(slot + "1/modalias", "pci:v000015ADd00000820sv000015ADsd00000820bc02sc80i00\n");
  tree.directory(slot + "1/infiniband/rocep19s0f1");
  MtuOptions options{{"127.0.0.1"}};
  options.root = tree.root();
  options.adapter = "eth0";
  fake::Printed told = run_mtu(options);
  CHECK(told.code == 3);
  CHECK(told.err == "pvrdma-agentctl: there is no PVRDMA adapter eth0\n");
  options.adapter = "0000:13:00.1";
  told = run_mtu(options);
  CHECK(told.code == 3);
  CHECK(told.err.find("0000:13:00.1 has none") != std::string::npos);
  tree.file(slot + "0/modalias", "pci:v000015ADd000007B0sv000015ADsd000007B0bc02sc00i00\n");
  tree.directory(slot + "0/net/lo");
  for (const char* name : {"0000:13:00.1", "lo", "rocep19s0f1"}) {
    const auto found = pmtu::interface_of_adapter(tree.root(), name);
    REQUIRE(found);
    CHECK(*found == "lo");
  }
  if (!can_ping("127.0.0.1")) return;
  told = run_mtu(options, true);
  CHECK(told.code == 0);
  CHECK(Json::parse(told.out)["hosts"][0]["interface"] == "lo");
}
