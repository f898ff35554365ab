// SPDX-License-Identifier: GPL-2.0-or-later
// The variables for applications.
#include <map>
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
  adapter["function"] = "0000:" + device + ".1";
  adapter["net_function"] = "0000:" + device + ".0";
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

Environment environment(const Json& health, EnvironmentUse use = EnvironmentUse::Rdma,
                        const std::optional<std::string>& name = {}) {
  const auto environment = environment_of(samples::value(health), name, use);
  REQUIRE(environment.has_value());
  return *environment;
}

std::string shell(const Json& health, const std::optional<std::string>& name = {}) {
  return render_environment(environment(health, EnvironmentUse::Rdma, name),
                            EnvironmentForm::Shell);
}

std::string options(const Json& health, EnvironmentUse use) {
  return render_environment(environment(health, use), EnvironmentForm::Mpirun);
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
        "export NCCL_IB_DISABLE='0'\n"
        "export NCCL_IB_HCA='=rocep19s0f1:1'\n"
        "export NCCL_IB_GID_INDEX='3'\n"
        "export NCCL_SOCKET_IFNAME='=net-rocep19s0f1'\n"
        "export NCCL_NET_GDR_LEVEL='LOC'\n"
        "export UCX_NET_DEVICES='rocep19s0f1:1'\n"
        "export UCX_IB_GID_INDEX='3'\n"
        "export UCX_IB_GPU_DIRECT_RDMA='n'\n"
        "export OMPI_MCA_pml='ucx'\n"
        "export MV2_USE_RoCE='1'\n"
        "export MV2_IBA_HCA='rocep19s0f1'\n"
        "export MV2_DEFAULT_GID_INDEX='3'\n"
        "export FI_PROVIDER='verbs'\n"
        "export FI_VERBS_IFACE='net-rocep19s0f1'\n"
        "export PERFTEST_ARGS='-d rocep19s0f1 -x 3'\n");
  const Environment all = environment(health);
  CHECK(all.gap.empty());
  CHECK(render_environment(all, EnvironmentForm::Systemd)
            .find("PERFTEST_ARGS=\"-d rocep19s0f1 -x 3\"\n") != std::string::npos);
}

TEST_CASE("env: Open MPI 4 by openib") {
  const std::string line = options(health_of({adapter("a", 3)}), EnvironmentUse::OpenIb);
  CHECK(line.find(" --mca pml ob1 --mca btl openib,vader,self --mca btl_openib_if_include a:1"
                  " --mca btl_openib_gid_index 3 ") != std::string::npos);
  CHECK(line.find("pml ucx") == std::string::npos);
}

TEST_CASE("env: options of mpirun are one line, without variables of other programs") {
  CHECK(
      options(health_of({adapter("a", 3)}), EnvironmentUse::Rdma) ==
      "-x NCCL_IB_DISABLE=0 -x NCCL_IB_HCA==a:1 -x NCCL_IB_GID_INDEX=3 -x NCCL_SOCKET_IFNAME==net-a"
      " -x NCCL_NET_GDR_LEVEL=LOC -x UCX_NET_DEVICES=a:1 -x UCX_IB_GID_INDEX=3"
      " -x UCX_IB_GPU_DIRECT_RDMA=n --mca pml ucx -x FI_PROVIDER=verbs -x FI_VERBS_IFACE=net-a\n");
}

TEST_CASE("env: the same run over TCP goes by the adapters' interfaces and names no RDMA device") {
  CHECK(options(health_of({adapter("a", 3)}), EnvironmentUse::Tcp) ==
        "-x NCCL_IB_DISABLE=1 -x NCCL_SOCKET_IFNAME==net-a -x UCX_NET_DEVICES=net-a"
        " -x UCX_TLS=tcp,self,sm --mca pml ob1 --mca btl ^openib,uct,ofi"
        " --mca btl_tcp_if_include net-a -x FI_PROVIDER=tcp -x FI_TCP_IFACE=net-a\n");
  // Indices may differ: no GID is used.
  CHECK(
      environment(health_of({adapter("a", 1), adapter("b", 2)}), EnvironmentUse::Tcp).gap.empty());
  CHECK_FALSE(
      environment(health_of({adapter("a", 1), adapter("b", std::nullopt)}), EnvironmentUse::Tcp)
          .gap.empty());
}

TEST_CASE("env after env --tcp in one shell: NCCL does not silently stay with TCP") {
  std::map<std::string, std::string> shell;
  for (const EnvironmentUse use : {EnvironmentUse::Tcp, EnvironmentUse::Rdma})
    for (const auto& [name, value] : environment(health_of({adapter("a", 3)}), use).variables)
      shell[name] = value;
  CHECK(shell["NCCL_IB_DISABLE"] == "0");
}

TEST_CASE("env: several adapters, or the named one") {
  const Json health = health_of({adapter("a", 1), adapter("b", 1), adapter("c", 2, "degraded")});
  CHECK(shell(health).find("NCCL_IB_HCA='=a:1,b:1'") != std::string::npos);
  CHECK(shell(health).find("GID_INDEX='1'") != std::string::npos);
  CHECK(shell(health).find("NCCL_SOCKET_IFNAME='=net-a,net-b'") != std::string::npos);
  CHECK(shell(health).find("MV2_IBA_HCA='a:b'") != std::string::npos);
  CHECK(shell(health).find("FI_VERBS_IFACE") == std::string::npos);  // takes one name
  for (const char* name : {"b", "net-b", "0000:b.1", "0000:b.0"})
    CHECK(shell(health, name).find("NCCL_IB_HCA='=b:1'") != std::string::npos);
  CHECK(refusal(health, "c").find("not ready: c") != std::string::npos);
  CHECK(refusal(health, "d").find("there is no adapter") != std::string::npos);
}

TEST_CASE("env: without one index for all adapters none is given, with the reason") {
  for (const auto second : {std::optional{2}, std::optional<int>{}}) {
    const Environment both = environment(health_of({adapter("a", 1), adapter("b", second)}));
    CHECK_FALSE(both.gap.empty());
    for (const auto& [name, value] : both.variables)
      CHECK(name.find("GID_INDEX") == std::string::npos);
  }
}

TEST_CASE("env: the output is safe for eval") {
  CHECK(refusal(health_of({adapter("a'; reboot; '", 1)})).find("no adapter is ready") !=
        std::string::npos);
  Json adapter_with_odd_interface = adapter("a", 1);
  adapter_with_odd_interface["netdev"] = "a;reboot";
  CHECK(refusal(health_of({adapter_with_odd_interface})).find("no adapter is ready") !=
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
