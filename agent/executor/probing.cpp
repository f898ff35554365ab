#include "agent/executor/probing.hpp"

#include "agent/executor/driver.hpp"
#include "probes/pci.hpp"

namespace pvrdma::executor {

Result<std::vector<std::string>> functions_to_probe(const Root& root) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  std::vector<std::string> functions;
  for (const probes::PciAdapter& adapter : *adapters)
    if (adapter.driver.value_or(kDriverModule) == kDriverModule &&
        may_be_probed(root, adapter.function))
      functions.push_back(adapter.function);
  return functions;
}

Report insert_driver(const Root& root, const std::function<Report()>& insert) {
  const auto functions = functions_to_probe(root);
  if (!functions) return failed(functions.error());
  if (functions->empty()) return insert();
  const auto others = functions->begin() + 1;
  Result<void> ready = clear_driver_override(root, functions->front());
  for (auto function = others; function != functions->end() && ready; ++function)
    ready = hold_back(root, *function);
  Report report = ready ? insert() : failed(ready.error());
  for (auto function = others; function != functions->end(); ++function) {
    if (report.good())
      static_cast<void>(bind_function(root, *function));
    else
      static_cast<void>(clear_driver_override(root, *function));
  }
  return report;
}

}  // namespace pvrdma::executor
