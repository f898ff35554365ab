// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/samples.hpp"

using samples::changes;
using samples::Json;
using Lines = std::vector<std::string>;

TEST_CASE("the first health object is new in all parts") {
  CHECK(changes(Json{}, samples::ready()) ==
        Lines{"state: ready: 1 of 1 adapters ready", "0000:13:00.1: ready, port ACTIVE"});
  CHECK(changes(Json{}, samples::absent()) == Lines{"state: absent: no PVRDMA adapter"});
}

TEST_CASE("a new age alone is no change") {
  Json later = samples::ready();
  later["observed_ms_ago"] = 9000;
  CHECK(changes(samples::ready(), later).empty());
}

TEST_CASE("a line for each thing that changed") {
  CHECK(changes(samples::converging(), samples::ready()) ==
        Lines{"state: converging -> ready: 1 of 1 adapters ready",
              "0000:13:00.1 state: converging -> ready", "0000:13:00.1 port: DOWN -> ACTIVE",
              "0000:13:00.1 link up: no -> yes", "0000:13:00.1 carrier: none -> yes",
              "0000:13:00.1 addresses: none -> 192.168.30.201/24, fe80::250:56ff:fe8a:9fc2/64",
              "0000:13:00.1 GIDs: none -> fe80::250:56ff:fe8a:9fc2 RoCE v2, "
              "::ffff:192.168.30.201 RoCE v2",
              "executor: ConfigureLink 0000:13:00.1 has ended"});
}

TEST_CASE("findings come, change and go; so do adapters") {
  const Json calm = samples::ready();
  Json held = calm;
  held["findings"].push_back(samples::finding("driver-in-use", "warning", "It is held.", ""));
  CHECK(changes(calm, held) == Lines{"finding driver-in-use (warning): It is held."});
  CHECK(changes(held, calm) == Lines{"finding driver-in-use: gone"});
  Json other = held;
  other["findings"][0]["summary"] = "It is held by two.";
  CHECK(changes(held, other) == Lines{"finding driver-in-use (warning): It is held by two."});
  CHECK(changes(held, held).empty());
  Json worse = held;
  worse["findings"][0]["severity"] = "error";
  CHECK(changes(held, worse) == Lines{"finding driver-in-use (error): It is held."});

  Json none = calm;
  none["adapters"] = Json::array();
  CHECK(changes(calm, none) == Lines{"0000:13:00.1: gone"});
}

TEST_CASE("the same finding about two adapters is two findings") {
  Json one = samples::ready();
  one["findings"].push_back(samples::finding("port-down", "error", "Down.", ""));
  one["findings"][0]["adapter"] = "0000:13:00.1";
  Json two = one;
  two["findings"].push_back(one["findings"][0]);
  two["findings"][1]["adapter"] = "0000:1b:00.1";
  CHECK(changes(one, two) == Lines{"finding port-down of 0000:1b:00.1 (error): Down."});
}

TEST_CASE("a call that gets stuck is told once") {
  Json busy = samples::stuck();
  busy["executor"]["busy"]["stuck"] = false;
  const Json stuck = samples::stuck();
  CHECK(changes(busy, stuck) == Lines{"executor: LoadModule mlx4_ib has not been answered"});
  CHECK(changes(stuck, stuck).empty());
}

TEST_CASE("control characters in names are escaped") {
  Json evil = samples::ready();
  evil["adapters"][0]["netdev"] = "\x1b[2J";
  CHECK(changes(samples::ready(), evil) == Lines{"0000:13:00.1 interface: ens224f0 -> \\x1b[2J"});
}
