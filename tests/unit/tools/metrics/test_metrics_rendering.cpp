// SPDX-License-Identifier: GPL-2.0-or-later
// Health as metrics: names, values and labels; no unknown value becomes a number.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/base/text.hpp"
#include "agent/tools/metrics/families.hpp"
#include "agent/tools/metrics/rendering.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/text.hpp"

using namespace pvrdma;
using namespace pvrdma::metrics;
using pvrdma::test::has;
using samples::Json;

namespace {

std::string text_of(const Health& health) {
  return prometheus_text({&health, nullptr, samples::kNow, "1.2"});
}
std::string text_of(const Json& health) { return text_of(samples::value(health)); }
std::string without_answer() { return prometheus_text({nullptr, nullptr, samples::kNow, "1.2"}); }

// The text's lines that begin with `start`, without HELP and TYPE.
std::string lines_of(const std::string& text, const std::string& start) {
  std::string found;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = cut(rest, '\n');
    if (line.substr(0, start.size()) == start) found += std::string{line} + "\n";
  }
  return found;
}

bool is_counter(const Family& family) { return family.type == Type::Counter; }
bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

TEST_CASE("families are ordered, described, and only counters are totals") {
  std::string before;
  for (const Family& family : families()) {
    const std::string name = family.name;
    INFO(name);
    CHECK(before < name);
    CHECK(name.substr(0, 7) == "pvrdma_");
    CHECK(std::string{family.description}.find_first_of("\\\n") == std::string::npos);
    CHECK(ends_with(family.description, "."));
    CHECK(ends_with(name, "_total") == is_counter(family));
    before = name;
  }
}

TEST_CASE("a ready machine") {
  const std::string text = text_of(samples::ready());
  CHECK(has(text,
            "# HELP pvrdma_agent_up Whether pvrdma-agent answered (1), or does not run or hangs "
            "(0).\n# TYPE pvrdma_agent_up gauge\npvrdma_agent_up 1\n"));
  CHECK(has(text, "# TYPE pvrdma_port_transitions_total counter\n"));
  CHECK(lines_of(text, "pvrdma_") ==
        R"(pvrdma_adapter_info{device="rocep19s0f1",port="1",function="0000:13:00.1",)"
        R"(net_function="0000:13:00.0",netdev="ens224f0",mac="00:50:56:8a:9f:c2",)"
        R"(driver="vmw_pvrdma",managed_by="agent"} 1
pvrdma_adapter_state{function="0000:13:00.1",state="converging"} 0
pvrdma_adapter_state{function="0000:13:00.1",state="ready"} 1
pvrdma_adapter_state{function="0000:13:00.1",state="degraded"} 0
pvrdma_adapter_state{function="0000:13:00.1",state="failed"} 0
pvrdma_agent_up 1
pvrdma_build_info{version="1.2"} 1
pvrdma_driver_reloads_total 0
pvrdma_executor_call_seconds 0
pvrdma_function_rebinds_total 0
pvrdma_gid_moves_total{function="0000:13:00.1"} 0
pvrdma_link_carrier{function="0000:13:00.1",netdev="ens224f0"} 1
pvrdma_link_mtu_bytes{function="0000:13:00.1",netdev="ens224f0"} 9000
pvrdma_link_up{function="0000:13:00.1",netdev="ens224f0"} 1
pvrdma_metrics_timestamp_seconds 1795228483
pvrdma_observation_timestamp_seconds 1795228483
pvrdma_port_active_mtu_bytes{device="rocep19s0f1",port="1",function="0000:13:00.1"} 1024
pvrdma_port_last_change_timestamp_seconds{function="0000:13:00.1"} 1795228303
pvrdma_port_physical_state_id{device="rocep19s0f1",port="1",function="0000:13:00.1"} 5
pvrdma_port_state_id{device="rocep19s0f1",port="1",function="0000:13:00.1"} 4
pvrdma_port_transitions_total{function="0000:13:00.1"} 3
pvrdma_state{state="absent"} 0
pvrdma_state{state="converging"} 0
pvrdma_state{state="ready"} 1
pvrdma_state{state="degraded"} 0
pvrdma_state{state="failed"} 0
pvrdma_state{state="unknown"} 0
pvrdma_state_timestamp_seconds 1795228303
pvrdma_unreadable_fields 0
pvrdma_unreadable_fields{function="0000:13:00.1"} 0
)");
}

TEST_CASE("without an answer only that is reported") {
  CHECK(lines_of(without_answer(), "pvrdma_") == R"(pvrdma_agent_up 0
pvrdma_build_info{version="1.2"} 1
pvrdma_metrics_timestamp_seconds 1795228483
pvrdma_state{state="absent"} 0
pvrdma_state{state="converging"} 0
pvrdma_state{state="ready"} 0
pvrdma_state{state="degraded"} 0
pvrdma_state{state="failed"} 0
pvrdma_state{state="unknown"} 1
)");
}

TEST_CASE("absent and unreadable fields have no sample, and unreadable ones are counted") {
  const std::string text = text_of(samples::failed());
  CHECK(lines_of(text, "pvrdma_port_state_id") ==
        "pvrdma_port_state_id{device=\"rocep19s0f1\",port=\"1\",function=\"0000:13:00.1\"} 4\n");
  CHECK(has(text, "pvrdma_link_carrier{function=\"0000:1b:00.1\",netdev=\"ens256f0\"} 0\n"));
  CHECK(has(text, "pvrdma_adapter_info{function=\"0000:1b:00.1\",net_function="));
  CHECK(has(text, "pvrdma_unreadable_fields{function=\"0000:1b:00.1\"} 1\n"));

  Json health = samples::ready();
  Json& adapter = health["adapters"][0];
  adapter["port"]["state"] = nullptr;
  adapter["port"]["phys_state"] = "UNKNOWN(9)";
  adapter["port"]["active_mtu"] = nullptr;
  adapter["carrier"] = nullptr;
  adapter["mtu"] = nullptr;
  adapter["unreadable"] = {"port.state: reading x: Input/output error", "carrier: y"};
  const std::string unread = text_of(health);
  for (const char* family : {"port_state_id", "port_physical_state_id", "port_active_mtu_bytes",
                             "link_carrier", "link_mtu_bytes"}) {
    INFO(family);
    CHECK(!has(unread, std::string{"pvrdma_"} + family));
  }
  CHECK(has(unread, "pvrdma_unreadable_fields{function=\"0000:13:00.1\"} 2\n"));

  adapter["netdev"] = nullptr;
  adapter["rdma_device"] = nullptr;
  const std::string nothing = text_of(health);
  CHECK(!has(nothing, "pvrdma_link_"));
  CHECK(!has(nothing, "device="));
}

TEST_CASE("an agent whose first look has not ended") {
  const std::string text = text_of(samples::unknown());
  CHECK(has(text, "pvrdma_agent_up 1\n"));
  CHECK(has(text, "pvrdma_state{state=\"unknown\"} 1\n"));
  CHECK(!has(text, "pvrdma_observation_timestamp_seconds"));
}

TEST_CASE("an unreadable ledger gives no counts") {
  CHECK(has(text_of(samples::degraded()), "pvrdma_driver_reloads_total 2\n"));
  Json health = samples::degraded();
  health["findings"].push_back(samples::finding("ledger-unusable", "warning", "", ""));
  const std::string text = text_of(health);
  CHECK(!has(text, "pvrdma_driver_reloads_total"));
  CHECK(!has(text, "pvrdma_function_rebinds_total"));
  CHECK(has(text, "pvrdma_unreadable_fields 1\n"));
}

TEST_CASE("a call that does not return") {
  CHECK(has(text_of(samples::stuck()), "pvrdma_executor_call_seconds 45\n"));
  CHECK(has(text_of(samples::converging()), "pvrdma_executor_call_seconds 0.04\n"));
}

TEST_CASE("findings are counted by id, severity and adapter") {
  Json health = samples::failed();
  const Json info = samples::finding("module-not-shipped", "info", "", "");
  health["findings"].push_back(info);
  health["findings"].push_back(info);
  health["findings"].push_back(samples::finding("of-next-year", "warning", "", ""));
  CHECK(lines_of(text_of(health), "pvrdma_findings") ==
        R"(pvrdma_findings{id="module-not-shipped",severity="info"} 2
pvrdma_findings{id="other",severity="warning"} 1
pvrdma_findings{id="port-down",severity="error",function="0000:1b:00.1"} 1
)");
}

TEST_CASE("label values are escaped") {
  Health health = samples::value(samples::ready());
  health.adapters[0].managed_by = "a\\b\"c\nd";
  CHECK(has(text_of(health), R"(managed_by="a\\b\"c\nd"} 1)"));
}

TEST_CASE("an adapter that comes twice in the answer does not break the text") {
  Json health = samples::ready();
  health["adapters"].push_back(health["adapters"][0]);
  CHECK(text_of(health) == text_of(samples::ready()));
}

TEST_CASE("large numbers and times keep their value") {
  Health health = samples::value(samples::ready());
  health.reloads = 1'000'000;
  health.adapters[0].transitions = 123'456'789;
  const std::string text = text_of(health);
  CHECK(has(text, "pvrdma_driver_reloads_total 1000000\n"));
  CHECK(has(text, "pvrdma_port_transitions_total{function=\"0000:13:00.1\"} 123456789\n"));
}

TEST_CASE("metrics as JSON") {
  const Health health = samples::value(samples::failed());
  const Json document = to_json({&health, nullptr, samples::kNow, "1.2"});
  const Json& list = document["metrics"];
  CHECK(list.size() == families().size());
  const auto found = std::find_if(list.begin(), list.end(), [](const Json& family) {
    return family["name"] == "pvrdma_findings";
  });
  REQUIRE(found != list.end());
  CHECK((*found)["type"] == "gauge");
  CHECK((*found)["samples"] ==
        Json::parse(R"([{"labels": {"function": "0000:1b:00.1", "id": "port-down",
                                    "severity": "error"}, "value": 1.0}])"));
}
