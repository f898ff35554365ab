// SPDX-License-Identifier: GPL-2.0-or-later
// io.systemd.Metrics: the same families as in Prometheus' text, on a socket, with an agent that
// answers, is missing, hangs, or is asked by many clients at once.
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/tools/metrics/command.hpp"
#include "agent/tools/metrics/rendering.hpp"
#include "agent/tools/metrics/report_service.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/listening.hpp"
#include "agent/varlink/service.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::metrics;
using pvrdma::test::has;
using samples::Json;

namespace {

using Names = std::set<std::string>;

// The name in Prometheus' form.
std::string family_of(const Json& reply) {
  const auto name = reply.at("name").get<std::string>();
  const std::string start = "io.pvrdma.Agent.";
  return name.substr(0, start.size()) == start ? "pvrdma_" + name.substr(start.size()) : name;
}

Names families_of(const std::vector<Json>& replies) {
  Names names;
  for (const Json& reply : replies) names.insert(family_of(reply));
  return names;
}

Names families_in(const std::string& text) {
  Names names;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string line{cut(rest, '\n')};
    if (line.front() != '#') names.insert(line.substr(0, line.find_first_of("{ ")));
  }
  return names;
}

std::vector<Json> of_family(const std::vector<Json>& replies, const std::string& name) {
  std::vector<Json> found;
  for (const Json& reply : replies)
    if (reply["name"] == "io.pvrdma.Agent." + name) found.push_back(reply);
  return found;
}

// The first error in these replies, by the interface's text and by systemd-report's rule for names.
std::string first_wrong(const std::vector<Json>& replies, const char* method) {
  static const std::regex kName{R"(io\.pvrdma\.Agent\.[A-Za-z](_?[A-Za-z0-9])*)"};
  const auto interface = varlink::parse_interface(kMetricsInterface);
  if (!interface) return interface.error().message();
  const auto& type = interface->methods.find(method)->second.out;
  for (const Json& reply : replies) {
    if (const auto wrong = varlink::mismatch(*interface, type, reply, varlink::Strictness::Request))
      return reply.dump() + ": " + *wrong;
    if (!std::regex_match(reply["name"].get<std::string>(), kName)) return reply.dump();
  }
  return "";
}

Json list_call(bool more = true) {
  return {{"method", "io.systemd.Metrics.List"}, {"parameters", Json::object()}, {"more", more}};
}
Json describe_call() {
  return {
      {"method", "io.systemd.Metrics.Describe"}, {"parameters", Json::object()}, {"more", true}};
}

struct Served {
  fake::Directory directory;
  std::string agent = directory / "agent";
  std::string path = directory / "io.pvrdma.Agent";
  test::Loop loop;
  ReportService service;

  explicit Served(Milliseconds answer_within = std::chrono::seconds{5},
                  Milliseconds idle = std::chrono::minutes{1}, const BootReader& read_boot = {})
      : service{loop.get(),
                {.agent_socket = agent,
                 .answer_within = answer_within,
                 .read_boot = read_boot,
                 .idle = idle,
                 .version = "1.2"}} {
    REQUIRE(service.listen_on(varlink::listening_socket(path, 0666).value()));
  }
  [[nodiscard]] test::RawClient client() const { return {loop, path}; }
};

// An agent that answers no question before it is told to.
struct SlowAgent {
  std::string path;
  mutable std::atomic<unsigned> asked{0};
  mutable std::vector<varlink::CallPtr> kept;
  fake::Agent agent{path,
                    {{"GetHealth",
                      [this](const varlink::CallPtr& call) {
                        ++asked;
                        kept.push_back(call);
                      }},
                     {"Refresh", [this](const varlink::CallPtr& call) {
                        for (const auto& one : kept) one->reply({{"health", samples::ready()}});
                        kept.clear();
                        call->reply(Json::object());
                      }}}};

  explicit SlowAgent(std::string socket) : path{std::move(socket)} {}
  void answer() const {
    auto client = varlink::Client::connect(path, std::chrono::seconds{5}).value();
    REQUIRE(client.call("io.pvrdma.Agent.Refresh", Json::object(), std::chrono::seconds{5}));
  }
};

// The parameters of all replies to a call; an error reply is the last.
std::vector<Json> replies_to(test::RawClient& client, const Json& call) {
  std::vector<Json> replies;
  if (!client.call(call.dump())) return replies;
  for (bool more = true; more;) {
    const auto message = client.receive();
    if (!message) return {};
    const Json reply = Json::parse(*message);
    more = reply.value("continues", false);
    replies.push_back(reply.contains("error") ? reply : reply.at("parameters"));
  }
  return replies;
}

std::vector<Json> listed(const Served& report) {
  auto client = report.client();
  return replies_to(client, list_call());
}

}  // namespace

TEST_CASE("each sample is a reply, named by the socket") {
  const Health health = samples::value(samples::failed());
  const Observation observation{&health, nullptr, samples::kNow, "1.2"};
  const std::vector<Json> replies = report_samples(observation);
  CHECK(first_wrong(replies, "List") == "");
  CHECK(families_of(replies) == families_in(prometheus_text(observation)));
  std::size_t samples = 0;
  const Json document = to_json(observation);
  for (const Json& family : document["metrics"]) samples += family["samples"].size();
  CHECK(replies.size() == samples);
  CHECK(of_family(replies, "findings") ==
        std::vector<Json>{Json::parse(R"({"name": "io.pvrdma.Agent.findings", "value": 1,
            "object": "0000:1b:00.1", "fields": {"id": "port-down", "severity": "error"}})")});
  CHECK(of_family(replies, "agent_up") ==
        std::vector<Json>{Json::parse(R"({"name": "io.pvrdma.Agent.agent_up", "value": 1})")});
}

TEST_CASE("each family is described") {
  const std::vector<Json> replies = report_families();
  CHECK(first_wrong(replies, "Describe") == "");
  Names all;
  for (const Family& family : families()) all.insert(family.name);
  CHECK(families_of(replies) == all);
  CHECK(replies.size() == all.size());
  CHECK(of_family(replies, "port_transitions_total")[0]["type"] == "counter");
}

TEST_CASE("numbers without a fraction are integers, others keep their fraction") {
  const Health health = samples::value(samples::converging());
  const auto replies = report_samples({&health, nullptr, samples::kNow, "1.2"});
  CHECK(of_family(replies, "executor_call_seconds")[0]["value"].dump() == "0.04");
  CHECK(of_family(replies, "metrics_timestamp_seconds")[0]["value"].dump() == "1795228483");
}

TEST_CASE("on a socket, a call with `more` gets the same values as Prometheus") {
  const Served report;
  const fake::Agent agent{report.agent,
                          {{"GetHealth", fake::answers({{"health", samples::failed()}})}}};
  const Health health = samples::value(samples::failed());
  const auto replies = listed(report);
  CHECK(first_wrong(replies, "List") == "");
  CHECK(families_of(replies) ==
        families_in(prometheus_text({&health, nullptr, samples::kNow, "1.2"})));
  auto client = report.client();
  CHECK(replies_to(client, describe_call()) == report_families());
  CHECK(replies_to(client, list_call()).size() == replies.size());
}

TEST_CASE("a call without `more`, or with a parameter, is an error") {
  const Served report;
  auto client = report.client();
  CHECK(replies_to(client, list_call(false))[0]["error"] == "org.varlink.service.ExpectedMore");
  Json call = list_call();
  call["parameters"] = {{"name", "x"}};
  CHECK(replies_to(client, call)[0]["error"] == "org.varlink.service.InvalidParameter");
}

TEST_CASE("a missing agent, or one that hangs, is a value") {
  const Served report{std::chrono::seconds{2}};
  const auto dead = listed(report);
  CHECK(families_of(dead) == Names{"pvrdma_agent_up", "pvrdma_build_info",
                                   "pvrdma_metrics_timestamp_seconds", "pvrdma_state"});
  CHECK(of_family(dead, "agent_up")[0]["value"] == 0);
  {
    const fake::BadServer server{report.agent, fake::stays_silent()};
    CHECK(of_family(listed(report), "agent_up")[0]["value"] == 0);
  }
  const fake::Agent agent{report.agent,
                          {{"GetHealth", fake::answers({{"health", samples::ready()}})}}};
  CHECK(of_family(listed(report), "agent_up")[0]["value"] == 1);
}

TEST_CASE(
    "while the agent is asked, all clients share its one answer, and other calls are answered") {
  const Served report;
  const SlowAgent agent{report.agent};
  auto first = report.client();
  auto second = report.client();
  auto leaves = report.client();
  REQUIRE(first.call(list_call().dump()));
  REQUIRE(second.call(list_call().dump()));
  REQUIRE(leaves.call(list_call().dump()));
  REQUIRE(report.loop.run_until([&] { return agent.asked == 1; }));
  leaves.leave();
  auto other = report.client();
  CHECK(replies_to(other, describe_call()).size() == families().size());
  agent.answer();
  for (auto* client : {&first, &second}) {
    const auto message = client->receive();
    REQUIRE(message);
    CHECK(has(*message, "io.pvrdma.Agent."));
  }
  CHECK(agent.asked == 1);
}

TEST_CASE("clients that have left are forgotten, and the next shares the question under way") {
  unsigned boots_read = 0;
  const Served report{std::chrono::seconds{5}, std::chrono::minutes{1},
                      [&]() -> ctl::Answered<Timeline> {
                        ++boots_read;
                        return Timeline{};
                      }};
  const auto leave = [&](const SlowAgent& agent) {
    auto leaves = report.client();
    REQUIRE(leaves.call(list_call().dump()));
    REQUIRE(report.loop.run_until([&] { return agent.asked == 1; }));
    leaves.leave();
    auto other = report.client();
    CHECK(replies_to(other, describe_call()).size() == families().size());
  };
  {
    const SlowAgent agent{report.agent};
    leave(agent);
    agent.answer();
    CHECK_FALSE(report.loop.run_until([&] { return boots_read > 0; }, Milliseconds{200}));
  }
  const SlowAgent agent{report.agent};
  leave(agent);
  auto next = report.client();
  REQUIRE(next.call(list_call().dump()));
  auto other = report.client();
  CHECK(replies_to(other, describe_call()).size() == families().size());
  agent.answer();
  const auto message = next.receive();
  REQUIRE(message);
  CHECK(has(*message, "io.pvrdma.Agent."));
  CHECK(agent.asked == 1);
  CHECK(boots_read == 1);
}

TEST_CASE("the service ends after a while without a client") {
  const Served report{std::chrono::seconds{5}, Milliseconds{50}};
  const auto ended = [&] { return sd_event_get_state(report.loop.get()) == SD_EVENT_FINISHED; };
  {
    auto client = report.client();
    CHECK(replies_to(client, describe_call()).size() == families().size());
    CHECK(!report.loop.run_until(ended, std::chrono::milliseconds{200}));
  }
  CHECK(report.loop.run_until(ended));
}

TEST_CASE("without systemd's socket the error names the unit") {
  fake::Screen screen;
  ctl::MetricsOptions options;
  options.serve = true;
  CHECK(ctl::print_metrics(fake::settings("/nowhere"), screen.console, options) == 3);
  CHECK(has(screen.err(), "systemctl start pvrdma-agent-report.socket"));
}
