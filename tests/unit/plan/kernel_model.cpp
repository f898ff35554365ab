// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/plan/kernel_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace pvrdma::test {

bool KernelModel::loaded(const std::string& name) const {
  return std::find(modules.begin(), modules.end(), name) != modules.end();
}

bool KernelModel::anybody_holds() const {
  return std::any_of(adapters.begin(), adapters.end(),
                     [](const ModelAdapter& adapter) { return adapter.held; });
}

bool KernelModel::active(const ModelAdapter& adapter) const {
  const bool right_order = !modules.empty() && modules.back() == kDriverModule;
  return adapter.up && !adapter.host_holds_down && !adapter.needs_reload &&
         (!adapter.needs_right_order || right_order);
}

Snapshot KernelModel::snapshot() const {
  Snapshot scene = ready_scene(static_cast<unsigned>(adapters.size()));
  scene.taken_at = now;
  scene.ledger = ledger;
  for (Module& module : scene.modules) {
    const auto place = std::find(modules.begin(), modules.end(), module.name);
    module = place == modules.end()
                 ? unloaded(module.name)
                 : test::loaded(module.name, static_cast<unsigned>(place - modules.begin()));
    if (std::find(missing.begin(), missing.end(), module.name) != missing.end())
      module.shipped = Shipped::Missing;
    if (module.name == kDriverModule && place != modules.end())
      module.refcount = anybody_holds() ? 1U : 0U;
  }
  std::vector<Holder> holders;
  for (unsigned i = 0; i < adapters.size(); ++i) {
    const ModelAdapter& model = adapters[i];
    Adapter& seen = adapter(scene, i);
    netdev(scene, i).link_up = model.up;
    netdev(scene, i).mtu = model.mtu;
    netdev(scene, i).addresses = model.addresses;
    netdev(scene, i).carrier = model.up ? Field<bool>{true} : Field<bool>::absent();
    rdma(scene, i).port.state = active(model) ? PortState::Active : PortState::Down;
    for (const LinkAddress& address : model.addresses) {
      const std::string host = address.text.substr(0, address.text.find('/'));
      rdma(scene, i).gids.push_back({static_cast<unsigned>(rdma(scene, i).gids.size()),
                                     (host.find(':') == std::string::npos ? "::ffff:" : "") + host,
                                     std::string{"RoCE v2"},
                                     {}});
    }
    if (!model.paired) rdma(scene, i).netdev = Field<std::string>::absent();
    if (model.held) holders.push_back({100 + static_cast<pid_t>(i), "job", rdma(scene, i).name});
    if (!model.bound) {
      seen.driver = Field<std::string>::absent();
      seen.rdma_device = Field<RdmaDevice>::absent();
    }
    if (!loaded(kNetModule)) {
      seen.netdev = Field<Netdev>::absent();
      seen.net_driver = Field<std::string>::absent();
    }
  }
  scene.holders = holders;
  return scene;
}

ModelAdapter& KernelModel::at(const std::string& function) {
  for (unsigned i = 0; i < adapters.size(); ++i)
    if (function_of(i) == function) return adapters[i];
  throw std::logic_error("no such function: " + function);
}

void KernelModel::probe_all() {
  if (!loaded(kNetModule)) return;  // "failed to get vmxnet3 device"
  for (ModelAdapter& adapter : adapters) adapter.bound = adapter.paired = true;
}

void KernelModel::load(const std::string& name) {
  if (loaded(name)) return;
  modules.push_back(name);
  if (name == kDriverModule) probe_all();
}

void KernelModel::apply(const Operation& operation) {
  const BootTime started = now;
  now += Milliseconds{100};
  if (const auto* load_module = std::get_if<LoadModule>(&operation)) {
    load(load_module->module);
  } else if (const auto* bind = std::get_if<BindFunction>(&operation)) {
    if (loaded(kNetModule)) at(bind->function).bound = at(bind->function).paired = true;
  } else if (const auto* link = std::get_if<ConfigureLink>(&operation)) {
    ModelAdapter& adapter = at(link->function);
    harmed = harmed || (link->mtu && adapter.up && adapter.held);
    adapter.up = true;
    adapter.mtu = link->mtu.value_or(adapter.mtu);
    for (const std::string& address : link->addresses)
      if (find_address(adapter.addresses, address) == nullptr)
        adapter.addresses.push_back({address, true});
  } else {
    harmed = harmed || anybody_holds();
    modules.erase(std::remove(modules.begin(), modules.end(), kDriverModule), modules.end());
    load(kDriverModule);
    for (ModelAdapter& adapter : adapters) adapter.needs_reload = false;
    ++(std::holds_alternative<RebindFunction>(operation) ? ledger.rebinds : ledger.reloads);
  }
  ledger.attempts.push_back({verb(operation), target(operation), started, now, Outcome::Done, ""});
}

Run run(KernelModel& kernel, const Config& config, History& history, Milliseconds limit) {
  constexpr Milliseconds kSlowLook{10'000};
  const BootTime end = kernel.now + limit;
  Run result;
  std::optional<Snapshot> before;
  while (kernel.now < end) {
    const Snapshot seen = kernel.snapshot();
    history = advance(std::move(history), before ? &*before : nullptr, seen);
    result.plan = plan(config, seen, history, kernel.now);
    result.health = assess(config, seen, result.plan, history, kernel.now);
    before = seen;
    for (const Action& action : result.plan.actions) kernel.apply(action.operation);
    result.actions += static_cast<unsigned>(result.plan.actions.size());
    if (!result.plan.actions.empty()) continue;
    if (result.health.state == State::Ready || result.health.state == State::Absent) break;
    kernel.now = result.plan.next_look && *result.plan.next_look > kernel.now
                     ? *result.plan.next_look
                     : kernel.now + kSlowLook;
  }
  return result;
}

}  // namespace pvrdma::test
