// SPDX-License-Identifier: GPL-2.0-or-later
// Exact lines and objects of `mtu`.
#include <nlohmann/json.hpp>
#include <tuple>

#include "agent/tools/mtu/rendering.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pmtu::Claim;
using pmtu::Limit;
using pmtu::Measurement;

namespace {

Measurement found(const std::string& host, unsigned mtu, Limit limit) {
  Measurement one;
  one.host = one.address = host;
  one.done = true;
  one.outcome = {mtu, true, 7, 9000, limit, std::nullopt};
  one.took = Milliseconds{240};
  return one;
}
Measurement by_router(const std::string& host, unsigned mtu, const Claim& claim) {
  Measurement one = found(host, mtu, Limit::Router);
  one.outcome.claim = claim;
  return one;
}
Measurement by_link() {
  Measurement one = found("10.0.0.1", 9000, Limit::LocalLink);
  one.outcome.probes = 1;
  one.interface = "ens224f0";
  return one;
}
Measurement failed(const std::string& host, std::string error) {
  Measurement one;
  one.host = host;
  one.done = true;
  one.error = std::move(error);
  return one;
}
Measurement silent(const std::string& host) {
  Measurement one;
  one.host = one.address = host;
  one.done = true;
  one.outcome.probes = 6;
  one.took = Milliseconds{6000};
  return one;
}

}  // namespace

TEST_CASE("a line says the MTU and what limits it") {
  Measurement named = by_link();
  named.host = "db1";
  Measurement unknown_link = by_link();
  unknown_link.interface.clear();
  Measurement linkless = found("10.0.0.6", 1500, Limit::Silence);
  linkless.outcome.link_mtu.reset();
  const std::vector<std::pair<Measurement, std::string>> table{
      {by_link(), "10.0.0.1: MTU 9000, limited by the local link ens224f0 (1 probe, 240 ms)\n"},
      {named, "db1 (10.0.0.1): MTU 9000, limited by the local link ens224f0 (1 probe, 240 ms)\n"},
      {unknown_link, "10.0.0.1: MTU 9000, limited by the local link (1 probe, 240 ms)\n"},
      {by_router("10.0.0.2", 1500, {"10.0.9.1", 1500}),
       "10.0.0.2: MTU 1500, limited by router 10.0.9.1, which says \"fragmentation needed\" "
       "(7 probes, 240 ms)\n"},
      {by_router("10.0.0.2", 1500, {"10.0.9.1", 1400}),
       "10.0.0.2: MTU 1500, limited by router 10.0.9.1, which says \"fragmentation needed\" but "
       "names MTU 1400 (7 probes, 240 ms)\n"},
      {by_router("fd00::2", 1500, {"fd00::1", 0}),
       "fd00::2: MTU 1500, limited by router fd00::1, which says \"packet too big\" but names no "
       "MTU (7 probes, 240 ms)\n"},
      {by_router("10.0.0.2", 1500, {"", 1500}),
       "10.0.0.2: MTU 1500, limited by a router that told this host earlier (ip route get) (7 "
       "probes, 240 ms)\n"},
      {found("10.0.0.3", 1500, Limit::Silence),
       "10.0.0.3: MTU 1500, larger packets vanish, and no router says why (local link: 9000) (7 "
       "probes, 240 ms)\n"},
      {linkless,
       "10.0.0.6: MTU 1500, larger packets vanish, and no router says why (7 probes, 240 ms)\n"},
      {found("::1", 65535, Limit::LargestPacket),
       "::1: MTU 65535, the largest packet IP has (7 probes, 240 ms)\n"},
  };
  for (const auto& [one, line] : table) {
    const std::string text = render_mtu({one});
    CHECK(text.substr(0, text.find('\n') + 1) == line);
    CHECK(mtu_complaints({one}).empty());
  }
}

TEST_CASE("several hosts end with the minimum, and how many it is of") {
  const Measurement small = found("10.0.0.3", 1500, Limit::Silence);
  const Measurement same = found("10.0.0.4", 1500, Limit::Silence);
  std::string text = render_mtu({by_link(), small, same});
  CHECK(text.substr(text.find("minimum")) == "minimum: MTU 1500, to 10.0.0.3\n");
  text = render_mtu({by_link(), silent("10.0.0.5"), small});
  CHECK(text.substr(text.find("minimum")) == "minimum: MTU 1500, to 10.0.0.3 (2 of 3 hosts)\n");
  CHECK(render_mtu({silent("10.0.0.5"), silent("10.0.0.6")}).empty());
}

TEST_CASE("a host without an answer has a complaint; those of the same trouble share it") {
  Measurement told = silent("10.0.0.5");
  told.unreachable = "10.0.0.9 says: Destination Host Unreachable";
  Measurement unfinished = silent("10.0.0.6");
  unfinished.outcome.mtu = 1500;
  const std::string no_right = "opening a socket";
  const Measurements all{failed("a", no_right),
                         silent("10.0.0.4"),
                         told,
                         unfinished,
                         failed("\x1b[2Jb", no_right),
                         failed("c", "ping says c: Name or service not known")};
  CHECK(mtu_complaints(all) ==
        std::vector<std::string>{
            "a, \\x1b[2Jb: opening a socket",
            "10.0.0.4: no answer, not even to small packets (6 probes, 6 s)",
            "10.0.0.5: no answer, not even to small packets (6 probes, 6 s); 10.0.0.9 says: "
            "Destination Host Unreachable",
            "10.0.0.6: packets of 1500 bytes pass, but the search did not come to its end (6 "
            "probes, 6 s)",
            "c: ping says c: Name or service not known"});
  CHECK(render_mtu(all).empty());
}

TEST_CASE("JSON holds the same facts, and null for what is not known") {
  const Json object = mtu_json({by_router("10.0.0.2", 1500, {"10.0.9.1", 1400}), silent("x")});
  CHECK(object["version"] == 1);
  CHECK(object["minimum_mtu_bytes"] == 1500);
  const Json limited = Json::parse(R"({
    "host": "10.0.0.2", "address": "10.0.0.2", "mtu_bytes": 1500, "passed_bytes": 1500,
    "limited_by": "router", "link_mtu_bytes": 9000, "interface": null, "router": "10.0.9.1",
    "router_mtu_bytes": 1400, "probes": 7, "took_ms": 240, "carried": null, "look_at": [], "error": null})");
  const Json unanswered = Json::parse(R"json({
    "host": "x", "address": "x", "mtu_bytes": null, "passed_bytes": null, "limited_by": null,
    "link_mtu_bytes": null, "interface": null, "router": null, "router_mtu_bytes": null,
    "probes": 6, "took_ms": 6000, "carried": null, "look_at": [],
    "error": "no answer, not even to small packets (6 probes, 6 s)"})json");
  CHECK(object["hosts"][0] == limited);
  CHECK(object["hosts"][1] == unanswered);
  CHECK(mtu_json({silent("x")})["minimum_mtu_bytes"].is_null());
  CHECK(mtu_json({by_link()})["hosts"][0]["limited_by"] == "local-link");
  CHECK(mtu_json({by_link()})["hosts"][0]["interface"] == "ens224f0");
}

TEST_CASE("where packets vanish the places to look at are named, once for all hosts") {
  const Measurement small = found("10.0.0.3", 1500, Limit::Silence);
  const Measurement same = found("10.0.0.4", 1500, Limit::Silence);
  CHECK(render_mtu({small, by_link(), same})
            .find("where large packets vanish to 10.0.0.3, 10.0.0.4, look at the MTU of:\n"
                  "  both guests' interfaces  ip link show\n"
                  "  distributed switch       vSphere Client: ") != std::string::npos);
  for (const Measurement& clear :
       {by_link(), by_router("10.0.0.2", 1500, {"10.0.9.1", 1500}), silent("10.0.0.5")}) {
    CHECK(render_mtu({clear}).find("look at") == std::string::npos);
    CHECK(mtu_json({clear})["hosts"][0]["look_at"].empty());
  }
  const Json places = mtu_json({small})["hosts"][0]["look_at"];
  REQUIRE(places.size() == 4);
  CHECK(places[0] == Json{{"where", "both guests' interfaces"}, {"how", "ip link show"}});
}

TEST_CASE("an expectation is met by what passed, not met by what was found, else not known") {
  const Measurement small = found("10.0.0.3", 1500, Limit::LocalLink);
  Measurement unfinished = silent("10.0.0.6");
  unfinished.outcome.mtu = 4000;
  const std::vector<std::tuple<Measurements, unsigned, std::string, std::string>> table{
      {{by_link()}, 9000, "yes", "pass"},
      {{by_link()}, 9001, "no", "do not pass to 10.0.0.1"},
      {{unfinished}, 4000, "yes", "pass"},
      {{unfinished}, 4001, "unknown", "not known of 10.0.0.6"},
      {{by_link(), silent("10.0.0.5")}, 9000, "unknown", "not known of 10.0.0.5"},
      {{by_link(), small, silent("10.0.0.5")},
       9000,
       "no",
       "do not pass to 10.0.0.3; not known of 10.0.0.5"},
  };
  for (const auto& [all, bytes, word, words] : table) {
    const std::string text = render_mtu(all, bytes);
    const std::string line =
        "expected: packets of " + std::to_string(bytes) + " bytes " + words + "\n";
    CHECK(text.substr(text.find("expected: ")) == line);
    const Json object = mtu_json(all, bytes);
    CHECK(object["expected_bytes"] == bytes);
    CHECK(object["carried"] == word);
  }
  CHECK(mtu_json({by_link(), small}, 9000)["hosts"][0]["carried"] == "yes");
  CHECK(mtu_json({by_link()})["carried"].is_null());
  CHECK(mtu_json({by_link()})["expected_bytes"].is_null());
}

TEST_CASE("progress says what is tried; of several hosts, how many are done") {
  Measurement one;
  one.host = "db1";
  CHECK(mtu_progress({one}) == "db1: 0 bytes pass, trying 68");
  one.address = "10.0.0.1";
  one.outcome.mtu = 1500;
  one.outcome.probes = 2;
  one.trying = 9000;
  CHECK(mtu_progress({one}) == "db1 (10.0.0.1): 1500 bytes pass, trying 9000");
  CHECK(mtu_progress({one, by_link(), silent("x")}) == "2 of 3 hosts done, 9 probes");
}
