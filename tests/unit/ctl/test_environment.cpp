// SPDX-License-Identifier: GPL-2.0-or-later
// The variables for applications.
#include <nlohmann/json.hpp>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/environment.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"

using namespace pvrdma::ctl;
using samples::Json;

namespace {

Json adapter(const std::string& device, std::optional<int> index, const char* state = "ready") {
  Json adapter = samples::ready_adapter();
  adapter["function"] = "0000:" + device;
  adapter["netdev"] = "net-" + device;
  adapter["rdma_device"] = device;
  adapter["state"] = state;
  adapter["application_gid"] = nullptr;
  if (index)
    adapter["application_gid"] = {{"address", "192.168.30.201"},
                                  {"gid", "::ffff:192.168.30.201"},
                                  {"index", *index},
                                  {"type", "RoCE v2"}};
  return adapter;
}

Json health_of(const std::vector<Json>& adapters) {
  Json health = samples::health("ready", "");
  for (const Json& one : adapters) health["adapters"].push_back(one);
  return health;
}

std::string shell(const Json& health, const std::optional<std::string>& name = {}) {
  const auto environment = environment_of(samples::value(health), name);
  REQUIRE(environment.has_value());
  return render_environment(*environment, EnvironmentForm::Shell);
}

std::string refusal(const Json& health, const std::optional<std::string>& name = {}) {
  const auto environment = environment_of(samples::value(health), name);
  REQUIRE_FALSE(environment.has_value());
  return environment.error().message();
}

}  // namespace

TEST_CASE("env: one adapter") {
  const Json health = health_of({adapter("rocep19s0f1", 3)});
  CHECK(shell(health) ==
        "export NCCL_IB_HCA='=rocep19s0f1:1'\n"
        "export NCCL_IB_GID_INDEX='3'\n"
        "export UCX_NET_DEVICES='rocep19s0f1:1'\n"
        "export UCX_IB_GID_INDEX='3'\n"
        "export OMPI_MCA_btl_openib_if_include='rocep19s0f1:1'\n"
        "export OMPI_MCA_btl_openib_gid_index='3'\n"
        "export PERFTEST_ARGS='-d rocep19s0f1 -x 3'\n");
  const auto environment = environment_of(samples::value(health), std::nullopt);
  CHECK(environment->gap.empty());
  CHECK(render_environment(*environment, EnvironmentForm::Systemd)
            .find("PERFTEST_ARGS=\"-d rocep19s0f1 -x 3\"\n") != std::string::npos);
}

TEST_CASE("env: several adapters, or the named one") {
  const Json health = health_of({adapter("a", 1), adapter("b", 1), adapter("c", 2, "degraded")});
  CHECK(shell(health).find("NCCL_IB_HCA='=a:1,b:1'") != std::string::npos);
  CHECK(shell(health).find("GID_INDEX='1'") != std::string::npos);
  for (const char* name : {"b", "net-b", "0000:b"})
    CHECK(shell(health, name).find("NCCL_IB_HCA='=b:1'") != std::string::npos);
  CHECK(refusal(health, "c").find("not ready: c") != std::string::npos);
  CHECK(refusal(health, "d").find("there is no adapter") != std::string::npos);
}

TEST_CASE("env: without one index for all adapters none is given, with the reason") {
  for (const auto second : {std::optional{2}, std::optional<int>{}}) {
    const auto environment = environment_of(
        samples::value(health_of({adapter("a", 1), adapter("b", second)})), std::nullopt);
    REQUIRE(environment.has_value());
    CHECK_FALSE(environment->gap.empty());
    for (const auto& [name, value] : environment->variables)
      CHECK(name.find("GID_INDEX") == std::string::npos);
  }
}

TEST_CASE("env: the output is safe for eval") {
  CHECK(refusal(health_of({adapter("a'; reboot; '", 1)})).find("no adapter is ready") !=
        std::string::npos);
  CHECK(refusal(health_of({})).find("no PVRDMA adapter") != std::string::npos);
}

TEST_CASE("env of an unknown adapter is unknown, whatever the others' state") {
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket",
                          {{"GetHealth", fake::answers({{"health", samples::failed()}})}}};
  const auto code = [&](const std::string& adapter) {
    fake::Screen screen;
    return env(fake::settings(directory / "socket"), screen.console, {adapter});
  };
  CHECK(code("nosuch0") == 3);
  CHECK(code("ens256f0") == 2);
  CHECK(code("ens224f0") == 0);
}
