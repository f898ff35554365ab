#include "agent/executor/operations.hpp"

#include <cerrno>
#include <functional>

#include "agent/base/guarded.hpp"
#include "agent/config/config_files.hpp"
#include "agent/executor/facts.hpp"
#include "agent/executor/link.hpp"
#include "agent/executor/probing.hpp"
#include "agent/executor/reload.hpp"
#include "probes/modules.hpp"

namespace pvrdma::executor {

namespace {

// The link of a function that the guard has let pass, looked up once more at the time of use.
Report with_link(const Root& root, const std::string& function, const std::string& netdev,
                 const std::function<Report(RouteSocket&, int, const AdapterFacts&)>& act) {
  const Facts facts = look(root);
  const AdapterFacts* adapter = find(facts, function);
  if (adapter == nullptr) return failed({ENODEV, "looking for function", function});
  const auto index = interface_of(root, adapter->pci.net_function, netdev);
  if (!index) return failed(index.error());
  auto socket = RouteSocket::open();
  if (!socket) return failed(socket.error());
  return act(*socket, *index, *adapter);
}

Report bad_config(const Error& error) {
  return {Outcome::NotAllowed, "the configuration is not right: " + error.message(), EINVAL, {}};
}

}  // namespace

Operations::Operations(Places places)
    : places_(std::move(places)), ledger_(places_.ledger, BootClock::now()) {}

Report Operations::run(const Operation& operation, Caller caller) {
  if (auto no = refused(operation)) {
    ledger_.refuse(operation, *no, BootClock::now());
    return std::move(*no);
  }
  if (auto no = ledger_.begin(operation, caller, BootClock::now())) return std::move(*no);
  Report report;
  // Whatever becomes of it, it is ended in the ledger and answered.
  if (const int code = guarded([&] { report = act(operation); }); code < 0)
    report = failed({-code, "carrying out", describe(operation)});
  // The kernel refused what the guard had let pass: somebody was faster.
  if (report.outcome == Outcome::InUse && report.holders.empty())
    report.holders = look(places_.root).holders.value_or({});
  ledger_.end(report, BootClock::now());
  return report;
}

std::optional<Report> Operations::refused(const Operation& operation) const {
  const auto loaded = load_config(places_.root);
  if (!loaded) return bad_config(loaded.error());
  Facts facts = look(places_.root);
  if (const auto* link = std::get_if<ConfigureLink>(&operation))
    look_at_owner(places_.root, link->function, facts);
  return refusal(operation, loaded->config, facts);
}

Report Operations::act(const Operation& operation) {
  return std::visit([this](const auto& one) { return act_on(one); }, operation);
}

Report Operations::act_on(const LoadModule& operation) {
  const auto modules = Modules::open(places_.modules);
  if (!modules) return failed(modules.error());
  const auto insert = [&] { return modules->insert(operation.module); };
  return probes::module_name(operation.module) == kDriverModule
             ? insert_driver(places_.root, insert)
             : insert();
}

Report Operations::act_on(const BindFunction& operation) {
  return bind_function(places_.root, operation.function);
}

Report Operations::act_on(const RebindFunction& operation) {
  Rebind rebind = rebind_function(places_.root, operation.function, places_.access_memo,
                                  [&] { return refused(operation); });
  if (rebind.unbound) ledger_.count_rebind();
  return std::move(rebind.report);
}

Report Operations::act_on(const ReloadDriver&) {
  const auto modules = Modules::open(places_.modules);
  if (!modules) return failed(modules.error());
  bool removed = false;
  Report report = insert_driver(places_.root, [&] {
    Reload reload = reload_driver({[&] { return modules->rehearse(kDriverModule); },
                                   [&] { return modules->remove(kDriverModule); },
                                   [&] { return modules->insert(kDriverModule); }});
    removed = reload.removed;
    return std::move(reload.report);
  });
  if (removed) ledger_.count_reload();
  return report;
}

Report Operations::act_on(const ConfigureLink& operation) {
  auto records = probes::read_address_records(places_.root);
  if (!records) return failed(records.error());
  const auto before = *records;
  const auto loaded = load_config(places_.root);
  // Without it, nothing is known to be no longer configured.
  if (!loaded) return bad_config(loaded.error());
  return with_link(places_.root, operation.function, operation.netdev,
                   [&](RouteSocket& socket, int index, const AdapterFacts& adapter) {
                     const auto entry = config_of(loaded->config, adapter);
                     if (!entry) return failed(entry.error());
                     auto report = configure_link(socket, index,
                                                  {operation.mtu, operation.addresses,
                                                   (*entry)->addresses, loaded->config.complete},
                                                  *records);
                     if (*records == before) return report;
                     const auto noted = replace_file(places_.root / probes::kAddressRecords,
                                                     probes::format_address_records(*records));
                     return noted ? report : failed(noted.error());
                   });
}

}  // namespace pvrdma::executor
