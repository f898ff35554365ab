// SPDX-License-Identifier: GPL-2.0-or-later
// A pass as one line for the log at level debug.
#include "agent/plan/planner.hpp"

#include <vector>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

// Shows absent and unreadable as different texts.
template <typename T, typename Show>
std::string shown(const Field<T>& field, const char* absent, Show show) {
  if (const Error* error = field.error()) return "unreadable (" + error->message() + ")";
  return field.is_known() ? std::string{show(*field.get())} : absent;
}

const std::string& itself(const std::string& text) { return text; }

constexpr auto word = [](auto value) { return to_string(value); };

std::string link_of(const Netdev& netdev) {
  if (!netdev.link_up) return netdev.name + " down";
  const auto carrier = [](bool there) { return there ? "carrier" : "no carrier"; };
  return formatted("{} up, {}", netdev.name, shown(netdev.carrier, "carrier unknown", carrier));
}

std::string line_of(const Adapter& adapter) {
  const auto port = [](const RdmaDevice& device) {
    return formatted("{} port {}", device.name, shown(device.port.state, "unknown", word));
  };
  return formatted("{}: driver {}, netdev {}, {}", adapter.function,
                   shown(adapter.driver, "none", itself), shown(adapter.netdev, "none", link_of),
                   shown(adapter.rdma_device, "no RDMA device", port));
}

std::string lines_of(const std::vector<Adapter>& adapters) {
  std::vector<std::string> lines;
  lines.reserve(adapters.size());
  for (const Adapter& adapter : adapters) lines.push_back(line_of(adapter));
  return lines.empty() ? "no adapter" : joined(lines, "; ");
}

}  // namespace

std::string pass_line(const Snapshot& snapshot, const Plan& plan) {
  const Module* driver = snapshot.module(kDriverModule);
  const Field<ModuleInit> init = driver != nullptr ? driver->init : Field<ModuleInit>{};
  std::vector<std::string> actions;
  actions.reserve(plan.actions.size());
  for (const Action& action : plan.actions)
    actions.push_back(formatted("{} ({})", describe(action.operation), action.reason));
  return formatted("{} {}; {}; {}", kDriverModule, shown(init, "not loaded", word),
                   shown(snapshot.adapters, "adapters not looked for", lines_of),
                   actions.empty() ? "nothing to do" : joined(actions));
}

}  // namespace pvrdma
