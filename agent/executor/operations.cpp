// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/operations.hpp"

#include <cerrno>

#include "agent/base/guarded.hpp"
#include "agent/config/config_files.hpp"
#include "agent/executor/facts.hpp"
#include "agent/executor/link.hpp"
#include "probes/modules.hpp"

namespace pvrdma::executor {

namespace {

// Adds to a refusal of the guard that the configuration is invalid, which may be its cause.
void explain_bad_config(const std::string& bad, Report& refusal) {
  if (bad.empty() || refusal.outcome != Outcome::NotAllowed) return;
  refusal.detail =
      "the configuration is invalid: " + bad + "; until it is valid, " + refusal.detail;
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
  const auto act_on = [this](const auto& one) { return act(one); };
  // Even after an exception the attempt is ended in the ledger and the call is answered.
  if (const int code = guarded([&] { report = std::visit(act_on, operation); }); code < 0)
    report = failed({-code, "carrying out", describe(operation)});
  // The kernel refused an operation that the guard had allowed: a holder came in between.
  if (report.outcome == Outcome::InUse && report.holders.empty())
    report.holders = look(places_.root).holders.value_or({});
  ledger_.end(report, BootClock::now());
  return report;
}

std::optional<Report> Operations::refused(const Operation& operation) const {
  const LoadedConfig loaded = load_config_or_safe(places_.root);
  const auto* link = std::get_if<ConfigureLink>(&operation);
  const Facts facts = look(places_.root, link != nullptr ? link->function : "");
  auto no = refusal(operation, loaded.config, facts);
  if (no) explain_bad_config(loaded.bad, *no);
  return no;
}

Report Operations::act(const LoadModule& operation) {
  const auto modules = Modules::open(places_.modules);
  if (!modules) return failed(modules.error());
  const auto insert = [&] { return modules->insert(operation.module); };
  return probes::module_name(operation.module) == kDriverModule
             ? insert_driver(places_.root, insert)
             : insert();
}

Report Operations::act(const BindFunction& operation) {
  return bind_function(places_.root, operation.function);
}

Report Operations::act(const RebindFunction& operation) {
  TakeAway rebind = rebind_function(places_.root, operation.function, places_.access_memo,
                                    [&] { return refused(operation); });
  if (rebind.taken) ledger_.count_rebind();
  return std::move(rebind.report);
}

Report Operations::act(const ReloadDriver&) {
  const auto modules = Modules::open(places_.modules);
  if (!modules) return failed(modules.error());
  bool removed = false;
  Report report = insert_driver(places_.root, [&] {
    TakeAway reload =
        reload_driver({[&] { return modules->rehearse_again(places_.root, kDriverModule); },
                       [&] { return modules->remove(kDriverModule); },
                       [&] { return modules->insert(kDriverModule); }});
    removed = reload.taken;
    return std::move(reload.report);
  });
  if (removed) ledger_.count_reload();
  return report;
}

Report Operations::act(const ConfigureLink& operation) {
  auto records = probes::read_address_records(places_.root);
  if (!records) return failed(records.error());
  auto saved = *records;
  const LoadedConfig loaded = load_config_or_safe(places_.root);
  // Looks up the link of the function again, at the time of use.
  const Facts facts = look(places_.root);
  const AdapterFacts* adapter = find(facts, operation.function);
  if (adapter == nullptr) return failed({ENODEV, "looking for function", operation.function});
  const auto index = interface_of(places_.root, adapter->pci.net_function, operation.netdev);
  if (!index) return failed(index.error());
  auto socket = RouteSocket::open();
  if (!socket) return failed(socket.error());
  const auto entry = config_of(loaded.config, *adapter);
  if (!entry) return failed(entry.error());
  const LinkSettings settings{operation.mtu, operation.addresses, (*entry)->addresses,
                              loaded.config.complete, address_refusal(facts, *adapter)};
  const auto save = [&](const AddressRecords& now) {
    return replace_file(places_.root / probes::kAddressRecords, probes::format_address_records(now))
        .map([&] { saved = now; });
  };
  Report report = configure_link(*socket, *index, settings, *records, save);
  if (*records == saved) return report;
  const auto noted = save(*records);
  return noted ? report : failed(noted.error());
}

}  // namespace pvrdma::executor
