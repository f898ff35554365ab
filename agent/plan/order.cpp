#include "agent/plan/order.hpp"

namespace pvrdma {

std::vector<std::string> predecessors(const Config& config) {
  std::vector<std::string> names{kNetModule};
  names.insert(names.end(), config.modules.before.begin(), config.modules.before.end());
  return names;
}

bool is_live(const Snapshot& snapshot, const std::string& module) {
  const Module* found = snapshot.module(module);
  return found != nullptr &&
         (found->init.is(ModuleInit::Live) || found->init.is(ModuleInit::BuiltIn));
}

std::vector<std::string> loaded_too_late(const Config& config, const Snapshot& snapshot) {
  std::vector<std::string> late;
  const Module* driver = snapshot.module(kDriverModule);
  const unsigned* driver_order = driver != nullptr ? driver->load_order.get() : nullptr;
  if (driver_order == nullptr) return late;
  for (const std::string& name : predecessors(config)) {
    const Module* module = snapshot.module(name);
    const unsigned* order = module != nullptr ? module->load_order.get() : nullptr;
    if (order != nullptr && *order > *driver_order) late.push_back(name);
  }
  return late;
}

}  // namespace pvrdma
