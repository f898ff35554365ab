#include "agent/tools/mtu/adapter.hpp"

#include "probes/pci.hpp"

namespace pvrdma::ctl::pmtu {

Result<std::string> interface_of_adapter(const Root& root, const std::string& name) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  for (const probes::PciAdapter& adapter : *adapters) {
    if (!probes::is_called(adapter, name)) continue;
    if (const std::string* interface = adapter.netdev.get()) return *interface;
    if (const Error* error = adapter.netdev.error()) return fail(*error);
    return fail(0, "no interface to measure from: adapter", adapter.function + " has none");
  }
  return fail(0, "there is no PVRDMA adapter", name);
}

}  // namespace pvrdma::ctl::pmtu
