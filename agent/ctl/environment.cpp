// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/environment.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string_view>

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
  std::string interface;
  std::optional<unsigned> gid_index;
};

std::optional<Usable> as_usable(const AdapterHealth& adapter) {
  const RdmaDevice* rdma = adapter.adapter.rdma_device.get();
  const Netdev* netdev = adapter.adapter.netdev.get();
  if (adapter.state != State::Ready || rdma == nullptr || netdev == nullptr) return std::nullopt;
  if (!is_plain(rdma->name) || !is_plain(netdev->name)) return std::nullopt;
  const auto& gid = adapter.application_gid;
  return Usable{rdma->name, netdev->name, gid ? std::optional{gid->index} : std::nullopt};
}

Result<std::vector<Usable>> usable_adapters(const Health& health,
                                            const std::optional<std::string>& name) {
  std::vector<Usable> usable;
  bool found = false;
  for (const AdapterHealth& adapter : health.adapters) {
    if (name && !is_called(adapter.adapter, *name)) continue;
    found = true;
    if (auto one = as_usable(adapter)) usable.push_back(*std::move(one));
  }
  if (!found && name) return fail(ENODEV, "there is no adapter", *name);
  if (!found) return fail(0, "there is no PVRDMA adapter", "");
  if (usable.empty())
    return fail(0, name ? "not ready: " + *name : "no adapter is ready",
                "(`pvrdma-agentctl health` says why)");
  return usable;
}

std::string listed(const std::vector<Usable>& adapters, std::string Usable::*name,
                   const char* separator, const char* end = "") {
  std::string list;
  for (const Usable& adapter : adapters)
    list += (list.empty() ? "" : separator) + adapter.*name + end;
  return list;
}

bool have_addresses(const std::vector<Usable>& adapters) {
  return std::all_of(adapters.begin(), adapters.end(),
                     [](const Usable& one) { return one.gid_index.has_value(); });
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

class Variables {
 public:
  explicit Variables(std::vector<Usable> adapters) : adapters_(std::move(adapters)) {}

  Environment by_rdma(EnvironmentUse use) {
    const auto index = common_index(adapters_);
    nccl(index);
    ucx(index);
    if (use == EnvironmentUse::OpenIb)
      openib(index);
    else
      set("OMPI_MCA_pml", "ucx");  // without it Open MPI takes TCP: see pvrdma-agentctl-env(1)
    mvapich2(index);
    libfabric();
    // perftest takes only one device.
    const auto own = adapters_.front().gid_index;
    set("PERFTEST_ARGS",
        "-d " + adapters_.front().device + (own ? " -x " + std::to_string(*own) : ""));
    if (!index) environment_.gap = gap_of(adapters_);
    return std::move(environment_);
  }

  Environment by_tcp() {
    const std::string interfaces = listed(adapters_, &Usable::interface, ",");
    set("NCCL_IB_DISABLE", "1");
    set("NCCL_SOCKET_IFNAME", "=" + interfaces);
    set("UCX_NET_DEVICES", interfaces);
    set("UCX_TLS", "tcp,self,sm");
    set("OMPI_MCA_pml", "ob1");
    // Names of BTLs for shared memory differ between Open MPI 4 and 5, so RDMA's are taken away.
    set("OMPI_MCA_btl", "^openib,uct,ofi");
    set("OMPI_MCA_btl_tcp_if_include", interfaces);
    set("FI_PROVIDER", "tcp");
    if (adapters_.size() == 1) set("FI_TCP_IFACE", interfaces);
    if (!have_addresses(adapters_)) environment_.gap = gap_of(adapters_);
    return std::move(environment_);
  }

 private:
  void set(const char* variable, std::string value) {
    environment_.variables.emplace_back(variable, std::move(value));
  }
  void set_index(const char* variable, std::optional<unsigned> index) {
    if (index) set(variable, std::to_string(*index));
  }

  void nccl(std::optional<unsigned> index) {
    set("NCCL_IB_DISABLE", "0");  // `env --tcp` may have set it in the same shell
    // "=": exactly these names, not all that begin so.
    set("NCCL_IB_HCA", "=" + devices());
    set_index("NCCL_IB_GID_INDEX", index);
    if (have_addresses(adapters_))
      set("NCCL_SOCKET_IFNAME", "=" + listed(adapters_, &Usable::interface, ","));
    // The driver registers no GPU memory, but NCCL tries it where the module nvidia_peermem is.
    set("NCCL_NET_GDR_LEVEL", "LOC");
  }

  void ucx(std::optional<unsigned> index) {
    set("UCX_NET_DEVICES", devices());  // a list without interfaces also rules TCP out
    set_index("UCX_IB_GID_INDEX", index);
    set("UCX_IB_GPU_DIRECT_RDMA", "n");
  }

  void openib(std::optional<unsigned> index) {
    set("OMPI_MCA_pml", "ob1");
    set("OMPI_MCA_btl", "openib,vader,self");
    set("OMPI_MCA_btl_openib_if_include", devices());
    set_index("OMPI_MCA_btl_openib_gid_index", index);
  }

  void mvapich2(std::optional<unsigned> index) {
    set("MV2_USE_RoCE", "1");
    set("MV2_IBA_HCA", listed(adapters_, &Usable::device, ":"));
    set_index("MV2_DEFAULT_GID_INDEX", index);
  }

  void libfabric() {
    set("FI_PROVIDER", "verbs");
    // libfabric 1.17 takes only one interface, 2.6 takes a list.
    if (adapters_.size() == 1) set("FI_VERBS_IFACE", adapters_.front().interface);
  }

  [[nodiscard]] std::string devices() const {
    return listed(adapters_, &Usable::device, ",", kPort);
  }

  std::vector<Usable> adapters_;
  Environment environment_;
};

// mpirun forwards Open MPI's own variables itself; the others it has to be told of. Variables of
// programs that it does not start, and values of several words, are left out.
std::string as_option(const std::string& name, const std::string& value) {
  constexpr std::string_view kOwn = "OMPI_MCA_";
  if (name.starts_with(kOwn)) return "--mca " + name.substr(kOwn.size()) + " " + value;
  const bool is_foreign = name == "PERFTEST_ARGS" || name.starts_with("MV2_");
  return is_foreign ? "" : "-x " + name + "=" + value;
}

}  // namespace

Result<Environment> environment_of(const Health& health, const std::optional<std::string>& name,
                                   EnvironmentUse use) {
  auto adapters = usable_adapters(health, name);
  if (!adapters) return fail(adapters.error());
  Variables variables{*std::move(adapters)};
  return use == EnvironmentUse::Tcp ? variables.by_tcp() : variables.by_rdma(use);
}

std::string render_environment(const Environment& environment, EnvironmentForm form) {
  std::string text;
  for (const auto& [name, value] : environment.variables) {
    if (form == EnvironmentForm::Shell) text += "export " + name + "='" + value + "'\n";
    if (form == EnvironmentForm::Systemd) text += name + "=\"" + value + "\"\n";
    if (form != EnvironmentForm::Mpirun) continue;
    const std::string option = as_option(name, value);
    if (!option.empty()) text += (text.empty() ? "" : " ") + option;
  }
  return form == EnvironmentForm::Mpirun ? text + "\n" : text;
}

}  // namespace pvrdma::ctl
