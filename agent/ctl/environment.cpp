// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/environment.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace pvrdma::ctl {

namespace {

constexpr const char* kPort = ":1";  // the adapter has only port 1

// Characters that need no quotes in a shell or in systemd's files. Names of devices have no others;
// a name with others is left out, so that `eval` of the output cannot run it.
bool is_plain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':';
  });
}

struct Usable {
  std::string device;
  std::optional<unsigned> gid_index;
};

bool is_meant(const Adapter& adapter, const std::optional<std::string>& name) {
  const RdmaDevice* rdma = adapter.rdma_device.get();
  const Netdev* netdev = adapter.netdev.get();
  return !name || adapter.function == *name || (rdma != nullptr && rdma->name == *name) ||
         (netdev != nullptr && netdev->name == *name);
}

Result<std::vector<Usable>> usable_adapters(const Health& health,
                                            const std::optional<std::string>& name) {
  std::vector<Usable> usable;
  bool found = false;
  for (const AdapterHealth& adapter : health.adapters) {
    if (!is_meant(adapter.adapter, name)) continue;
    found = true;
    const RdmaDevice* rdma = adapter.adapter.rdma_device.get();
    if (adapter.state != State::Ready || rdma == nullptr || !is_plain(rdma->name)) continue;
    const auto& gid = adapter.application_gid;
    usable.push_back({rdma->name, gid ? std::optional{gid->index} : std::nullopt});
  }
  if (!found && name) return fail(ENODEV, "there is no adapter", *name);
  if (!found) return fail(0, "there is no PVRDMA adapter", "");
  if (usable.empty())
    return fail(0, name ? "not ready: " + *name : "no adapter is ready",
                "(`pvrdma-agentctl health` says why)");
  return usable;
}

std::string listed(const std::vector<Usable>& adapters) {
  std::string list;
  for (const Usable& adapter : adapters) list += (list.empty() ? "" : ",") + adapter.device + kPort;
  return list;
}

// The index that all adapters have; none where they differ, or where one has none.
std::optional<unsigned> common_index(const std::vector<Usable>& adapters) {
  const auto first = adapters.front().gid_index;
  const bool same = std::all_of(adapters.begin(), adapters.end(),
                                [&](const Usable& one) { return one.gid_index == first; });
  return same ? first : std::nullopt;
}

std::string gap_of(const std::vector<Usable>& adapters) {
  for (const Usable& adapter : adapters)
    if (!adapter.gid_index) return adapter.device + " has no address, so no GID index is given";
  return "the adapters' GID indices differ, so none is given: ask for one adapter";
}

}  // namespace

Result<Environment> environment_of(const Health& health, const std::optional<std::string>& name) {
  const auto adapters = usable_adapters(health, name);
  if (!adapters) return fail(adapters.error());
  const std::string list = listed(*adapters);
  const auto index = common_index(*adapters);
  Environment environment;
  const auto set = [&](const char* variable, std::string value) {
    environment.variables.emplace_back(variable, std::move(value));
  };
  set("NCCL_IB_HCA", "=" + list);  // "=": exactly these devices, not all whose names begin so
  if (index) set("NCCL_IB_GID_INDEX", std::to_string(*index));
  set("UCX_NET_DEVICES", list);
  if (index) set("UCX_IB_GID_INDEX", std::to_string(*index));
  set("OMPI_MCA_btl_openib_if_include", list);
  if (index) set("OMPI_MCA_btl_openib_gid_index", std::to_string(*index));
  // perftest takes only one device.
  const std::string& device = adapters->front().device;
  const auto own = adapters->front().gid_index;
  set("PERFTEST_ARGS", "-d " + device + (own ? " -x " + std::to_string(*own) : ""));
  if (!index) environment.gap = gap_of(*adapters);
  return environment;
}

std::string render_environment(const Environment& environment, EnvironmentForm form) {
  std::string text;
  for (const auto& [name, value] : environment.variables)
    text += form == EnvironmentForm::Shell ? "export " + name + "='" + value + "'\n"
                                           : name + "=\"" + value + "\"\n";
  return text;
}

}  // namespace pvrdma::ctl
