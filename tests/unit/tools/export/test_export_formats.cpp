// SPDX-License-Identifier: GPL-2.0-or-later
// `export`: the texts for container engines, Kubernetes and vSphere.
#include <nlohmann/json.hpp>
#include <string>

#include "agent/ctl/connection.hpp"
#include "agent/tools/export/formats.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/text.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;

namespace {

Health health_from(const Json& json) { return health_in({{"health", json}})->value; }

Json with_device(Json health, const std::string& member, const Json& value) {
  health["adapters"][0][member] = value;
  return health;
}

bool any(const std::string& /*function*/, const std::string& /*uverbs*/) { return true; }

}  // namespace

TEST_CASE("export: a device of CDI for each adapter, and one for all") {
  const Json cdi = Json::parse(exports::cdi(health_from(samples::ready()), any, true).value());
  CHECK(cdi["cdiVersion"] == "0.5.0");
  CHECK(cdi["kind"] == "pvrdma.io/adapter");
  REQUIRE(cdi["devices"].size() == 2);
  const Json& device = cdi["devices"][0];
  CHECK(device["name"] == "0000:13:00.1");
  const Json& nodes = device["containerEdits"]["deviceNodes"];
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0] ==
        Json{{"path", "/dev/infiniband/uverbs0"}, {"type", "c"}, {"permissions", "rw"}});
  CHECK(nodes[1]["path"] == "/dev/infiniband/rdma_cm");
  CHECK(cdi["devices"][1]["name"] == "all");
  CHECK(cdi["devices"][1]["containerEdits"] == device["containerEdits"]);
  CHECK(!has(cdi.dump(), "major"));
}

TEST_CASE("export: without a valid node there is no device of CDI") {
  CHECK(!exports::cdi(health_from(samples::without_device()), any, true));
  for (const char* name : {"../sda", "uverbs", "uverbs0/../../sda", "uverbs00000", "uverbs1x"})
    CHECK(!exports::cdi(health_from(with_device(samples::ready(), "uverbs", name)), any, true));
  for (const char* function : {"all", "0000:13:00.1x", "0000:13:00", "../../etc/x"})
    CHECK(
        !exports::cdi(health_from(with_device(samples::ready(), "function", function)), any, true));
  const auto alone = exports::cdi(health_from(samples::ready()), any, false);
  REQUIRE(alone);
  CHECK(!has(*alone, "rdma_cm"));
}

TEST_CASE("export: a node's labels lapse") {
  const std::string text =
      exports::node_features(health_from(samples::ready()), samples::kNow, std::chrono::minutes{5});
  CHECK(text ==
        "# +expiry-time=2026-11-21T02:39:43Z\npvrdma.io/state=ready\npvrdma.io/ready=true\n"
        "pvrdma.io/adapters=1\npvrdma.io/adapters-ready=1\n");
  CHECK(has(exports::node_features(health_from(samples::failed()), samples::kNow, {}),
            "pvrdma.io/ready=false\n"));
}

TEST_CASE("export: a guestinfo value is short, and counts the parts left out") {
  const Health health = health_from(samples::without_device());
  const Json value = Json::parse(exports::guestinfo(health, {"0123", 7, samples::kNow}));
  CHECK(value["version"] == 1);
  CHECK(value["updateCounter"] == 7);
  CHECK(value["bootId"] == "0123");
  CHECK(value["publishTime"] == wall_time(samples::kNow.boot, samples::kNow));
  CHECK(value["state"] == "failed");
  CHECK(value["adapters"][0]["function"] == "0000:1b:00.1");
  CHECK(value["findings"].size() == health.findings.size());
  CHECK(!value.contains("left_off"));

  Health many = health;
  many.findings.assign(500, health.findings.front());
  many.adapters.assign(100, health.adapters.front());
  const std::string text = exports::guestinfo(many, {"0123", 7, samples::kNow});
  CHECK(text.size() <= exports::kGuestinfoLimitBytes);
  CHECK(text.size() > exports::kGuestinfoLimitBytes - 200);
  const Json cut = Json::parse(text);
  CHECK(cut["left_off"] == 600 - cut["findings"].size() - cut["adapters"].size());
  many.adapters.front().adapter.function.assign(10'000, 'x');
  CHECK(exports::guestinfo(many, {}).size() <= exports::kGuestinfoLimitBytes);
}
