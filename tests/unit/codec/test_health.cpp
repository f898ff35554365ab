// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's JSON in the form of the interface file, both ways.
#include <cerrno>

#include "agent/codec/json.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/message.hpp"
#include "agent/varlink/service.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/codec/full_health.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::codec;
using namespace pvrdma::test;
using varlink::kAgentInterface;
using varlink::Limits;
using varlink::mismatch;
using varlink::parse_interface;
using varlink::Strictness;
using varlink::to_text;
using namespace std::chrono_literals;

namespace {

// The place where `value` differs from the type in the interface's file; "": it does not differ.
std::string differs(std::string_view text, const char* type, const Json& value) {
  const auto interface = parse_interface(text);
  REQUIRE(interface);
  return mismatch(*interface, interface->types.at(type), value, Strictness::Complete).value_or("");
}

}  // namespace

TEST_CASE("health has the form that the interface declares") {
  const BootTime now = BootClock::now();
  CHECK(differs(kAgentInterface, "Health", to_json(full_health(now), now)).empty());
  CHECK(differs(kAgentInterface, "Health", to_json(Health{}, now)).empty());
  // Proves that the check can see a difference.
  Json changed = to_json(full_health(now), now);
  changed["adapters"][0].erase("uverbs");
  CHECK(differs(kAgentInterface, "Health", changed) == "adapters[0].uverbs");

  Plan plan;
  plan.actions = {{LoadModule{"ib_umad"}, "first"}, {ReloadDriver{}, "last"}};
  plan.findings = full_health(now).findings;
  plan.next_look = now + 7s;
  CHECK(differs(kAgentInterface, "Plan", to_json(plan, now)).empty());
  CHECK(differs(kAgentInterface, "Plan", to_json(Plan{}, now)).empty());
  CHECK(to_json(plan, now).at("next_look_in_ms") == 7000);
  CHECK(to_json(plan, now + 8s).at("next_look_in_ms") == 0);
  CHECK(to_json(plan, now).at("actions").at(1) ==
        Json({{"verb", "ReloadDriver"}, {"target", "vmw_pvrdma"}, {"reason", "last"}}));

  for (const State state : {State::Absent, State::Converging, State::Ready, State::Degraded,
                            State::Failed, State::Unknown}) {
    Health health;
    health.state = state;
    CHECK(differs(kAgentInterface, "Health", to_json(health, now)).empty());
  }
}

TEST_CASE("health tells known, absent and unreadable fields apart") {
  const BootTime now = BootClock::now();
  const Json health = to_json(full_health(now), now);
  CHECK(health.at("version") == 1);
  CHECK(health.at("state") == "degraded");
  CHECK(health.at("observed_ms_ago") == 12);
  CHECK(health.at("executor") ==
        Json::parse(R"({"busy":{"call":"LoadModule mlx4_ib","for_ms":4000,"stuck":true},
                        "reloads":2,"rebinds":1})"));
  CHECK(health.at("findings").at(0) == Json::parse(R"({"id":"driver-in-use",
    "severity":"warning","actor":"agent","adapter":"0000:13:00.1","summary":"held","remedy":"wait",
    "evidence":{"holders":[{"pid":812,"command":"ibv_asyncwatch","rdma_device":"rocep19s0f1"}],
                "values":{"reason":"out of order"}}})"));
  CHECK(health.at("findings").at(1).at("adapter").is_null());

  Json full = health.at("adapters").at(0);
  full.erase("last_change");
  CHECK(full == Json::parse(R"({"function":"0000:13:00.1","net_function":"0000:13:00.0",
    "state":"ready","driver":"vmw_pvrdma","rdma_device":"rocep19s0f1","aliases":["vmw_pvrdma0"],
    "uverbs":"uverbs0","node_guid":"0250:56ff:fe8a:9fc2","rdma_netdev":"ens224f0",
    "netdev":"ens224f0","mac":"00:50:56:8a:9f:c2","mtu":9000,"link_up":true,"carrier":true,
    "operstate":"up","managed_by":"agent","addresses":["192.168.30.201/24"],
    "port":{"state":"ACTIVE","phys_state":"LINK_UP","active_mtu":1024,"link_layer":"Ethernet"},
    "gids":[{"index":1,"gid":"::ffff:192.168.30.201","type":"RoCE v2","netdev":"ens224f0"}],
    "application_gid":{"address":"192.168.30.201","gid":"::ffff:192.168.30.201","index":1,
    "type":"RoCE v2"},"gid_moves":2,"transitions":3,"unreadable":[]})"));

  const Json& blind = health.at("adapters").at(1);
  CHECK(blind.at("driver").is_null());
  CHECK(blind.at("port").at("state").is_null());
  std::vector<std::string> expected;
  for (const char* name : {"driver", "net_driver", "carrier", "uverbs", "node_guid", "rdma_netdev",
                           "port.verbs_state", "port.state", "port.phys_state", "port.active_mtu",
                           "port.link_layer", "gids[1].type", "gids[1].netdev"})
    expected.push_back(std::string{name} + ": reading /sys/x: Permission denied");
  auto unreadable = blind.at("unreadable").get<std::vector<std::string>>();
  std::sort(expected.begin(), expected.end());
  std::sort(unreadable.begin(), unreadable.end());
  CHECK(unreadable == expected);

  const Json& bare = health.at("adapters").at(2);
  for (const char* name : {"driver", "rdma_device", "uverbs", "netdev", "mac", "mtu", "link_up",
                           "carrier", "operstate", "port"}) {
    CAPTURE(name);
    CHECK(bare.at(name).is_null());
  }
  CHECK(bare.at("gids").empty());
  CHECK(bare.at("unreadable").empty());

  Adapter adapter = full_adapter();
  adapter.rdma_device = Field<RdmaDevice>::unreadable(kDenied);
  adapter.netdev = Field<Netdev>::unreadable(kDenied);
  Health dark;
  dark.adapters = {{adapter, State::Degraded, "agent", 0, now, {}, 0}};
  const Json json = to_json(dark, now);
  CHECK(differs(kAgentInterface, "Health", json).empty());
  CHECK(json.at("adapters").at(0).at("unreadable") ==
        Json({"netdev: reading /sys/x: Permission denied",
              "rdma_device: reading /sys/x: Permission denied"}));
  CHECK(json.at("observed_ms_ago").is_null());
}

TEST_CASE("a name that is not UTF-8 does not stop the answer") {
  const Json holder = to_json(std::vector{Holder{1, "a\xff", "x"}}).at(0);
  CHECK(to_text(holder).find(R"("a\ufffd")") != std::string::npos);
}

TEST_CASE("however many processes hold an adapter, the answer fits into the limit of a message") {
  Finding finding;
  for (int pid = 1; pid < 20'000; ++pid) finding.holders.push_back({pid, "x", "rocep19s0f1"});
  Health health;
  health.findings.push_back(finding);
  CHECK(to_text(to_json(health, BootTime{})).size() < Limits{}.output_bytes);
  OperationResult report;
  report.holders = finding.holders;
  CHECK(to_json(report).at("holders").size() == kHoldersAtMost);
}

TEST_CASE("health comes back unchanged, as far as the interface has its fields") {
  const Moment now = Moment::now();
  const Health sent = full_health(now.boot);
  const auto back = health_from(to_json(sent, now.boot), now);
  REQUIRE(back);
  // Through the interface nothing more is lost, but for the rounding of times.
  CHECK(to_json(*back, now.boot) == to_json(sent, now.boot));
  CHECK(back->observed == sent.observed);
  CHECK(back->busy == sent.busy);
  CHECK(back->findings == sent.findings);
  CHECK(back->adapters[0].application_gid == sent.adapters[0].application_gid);
  CHECK(back->adapters[1].adapter.rdma_device.get()->port.verbs_state.is_unreadable());
  CHECK(back->adapters[2].adapter.netdev.is_absent());
  CHECK(health_from(to_json(Health{}, now.boot), now)->observed == BootTime{});
}

TEST_CASE("a port state that this agent has no word for") {
  const Moment now = Moment::now();
  Health health = full_health(now.boot);
  health.adapters[0].adapter.rdma_device.get()->port.state = static_cast<PortState>(9);
  Json json = to_json(health, now.boot);
  CHECK(json["adapters"][0]["port"]["state"] == "UNKNOWN(9)");
  for (const char* word : {"HIBERNATES", "UNKNOWN(", "UNKNOWN()", "UNKNOWN(256)", "UNKNOWN(9"}) {
    json["adapters"][0]["port"]["state"] = word;
    CHECK(to_json(*health_from(json, now), now.boot)["adapters"][0]["port"]["state"].is_null());
  }
}

TEST_CASE("a plan comes back with each action's verb, target and reason") {
  const Moment now = Moment::now();
  Plan plan;
  plan.actions = {{LoadModule{"ib_umad"}, "first"},
                  {BindFunction{"0000:13:00.1"}, ""},
                  {RebindFunction{"0000:13:00.1"}, ""},
                  {ReloadDriver{}, "last"},
                  {ConfigureLink{"0000:13:00.1", "", std::nullopt, {}}, "down"}};
  plan.findings = full_health(now.boot).findings;
  plan.next_look = now.boot + 7s;
  CHECK(plan_from(to_json(plan, now.boot), now).value() == plan);
  CHECK(plan_from(to_json(Plan{}, now.boot), now).value() == Plan{});
}
