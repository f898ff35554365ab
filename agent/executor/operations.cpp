// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/operations.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "agent/base/guarded.hpp"
#include "agent/executor/facts.hpp"
#include "agent/executor/link.hpp"
#include "agent/executor/route_socket.hpp"
#include "agent/executor/uverbs_access.hpp"

namespace pvrdma::executor {

namespace {

// Asks the guard, and adds to its refusal that the configuration is invalid, which may be the
// cause.
std::optional<OperationResult> refused(const Operation& operation, const LoadedConfig& loaded,
                                       const Facts& facts) {
  auto no = refusal(operation, loaded.config, facts);
  if (no && no->outcome == Outcome::NotAllowed && !loaded.error.empty())
    no->detail =
        "the configuration is invalid: " + loaded.error + "; until it is valid, " + no->detail;
  return no;
}

bool is_about_driver(const Attempt& attempt) {
  return attempt.verb == Verb::ReloadDriver ||
         (attempt.verb == Verb::LoadModule && attempt.target == kDriverModule);
}

// Whether the newest attempt at the driver was never completed. A later executor may have ended it
// in the ledger. False where the ledger cannot be read, as a driver that an administrator has
// unloaded must stay unloaded.
bool was_cut_short(const Places& places) {
  const auto ledger = codec::read_ledger(places.ledger);
  if (!ledger) return false;
  const auto& attempts = ledger->attempts;
  const auto newest = std::find_if(attempts.rbegin(), attempts.rend(), is_about_driver);
  return newest != attempts.rend() && (!newest->finished || newest->detail == kCutShort);
}

bool is_loaded(const Root& root) {
  return is_there(root / "/sys/module" / kDriverModule).value_or(false);
}

OperationResult bring_back_driver(const Places& places) {
  const auto modules = Modules::open(places.modules);
  if (!modules) return failed(modules.error());
  return insert_driver(places.root, [&] { return modules->insert(kDriverModule); });
}

OperationResult release_functions(const Places& places) {
  const auto functions = held_back(places.root);
  if (!functions) return failed(functions.error());
  OperationResult result = functions->empty() ? already_done({}) : done();
  if (is_loaded(places.root)) {
    for (const std::string& function : *functions)
      if (OperationResult bound = bind_function(places.root, function); !bound.good())
        result = std::move(bound);
    return result;
  }
  // The insertion releases the functions itself, one by one; before it they stay held back.
  if (was_cut_short(places)) result = bring_back_driver(places);
  if (const auto free = free_held_back(places.root, *functions); !free) return failed(free.error());
  return result;
}

// Closes the adapter's verbs node, and checks that no process holds the adapter.
Alone alone_with(const Places& places, const std::string& function) {
  const Root& root = places.root;
  const auto refused_now = [&]() -> std::optional<OperationResult> {
    const Facts now = look(root);
    const AdapterFacts* adapter = find(now, function);
    if (adapter == nullptr) return failed({ENODEV, "looking for function", function});
    return adapter_refusal(now, *adapter);
  };
  // No process should find the node closed while another one holds the adapter anyway.
  if (auto no = refused_now()) return {std::move(no), nullptr};
  auto closed = close_verbs_node(root, function, places.access_memo);
  if (!closed) return {failed(closed.error()), nullptr};
  if (!*closed) return {};
  if (auto no = refused_now()) return {std::move(no), nullptr};
  return {std::nullopt, std::make_shared<UverbsAccess>(std::move(**closed))};
}

}  // namespace

Operations::Operations(Places places, Milliseconds load_patience)
    : places_(std::move(places)),
      ledger_(places_.ledger, BootClock::now()),
      loads_(load_patience) {}

OperationResult Operations::run(const Operation& operation, Caller caller) {
  const Ground ground = look_for(operation);
  auto no = refused(operation, ground.loaded, ground.facts);
  if (!no) no = still_loading(operation);
  if (no)
    no->repeated = ledger_.refuse(operation, *no, BootClock::now());
  else
    no = ledger_.begin(operation, caller, BootClock::now());
  if (no) return std::move(*no);
  OperationResult result;
  const auto act_on = [&](const auto& one) {
    if constexpr (requires { act(one, ground); })
      return act(one, ground);
    else
      return act(one);
  };
  // Even after an exception the attempt is ended in the ledger and the call is answered.
  if (const int code = guarded([&] { result = std::visit(act_on, operation); }); code < 0)
    result = failed({-code, "carrying out", describe(operation)});
  // The kernel refused an operation that the guard had allowed: a holder came in between.
  if (result.outcome == Outcome::InUse && result.holders.empty())
    result.holders = look(places_.root).holders.value_or({});
  ledger_.end(result, BootClock::now());
  if (const auto& counted = ledger_.state(); !counted)
    result.detail +=
        (result.detail.empty() ? "" : "; ") + ("it is not counted: " + counted.error().message());
  return result;
}

// No second insertion is started, and waiting for the first would only delay other operations. A
// refusal costs no try.
std::optional<OperationResult> Operations::still_loading(const Operation& operation) const {
  const auto* load = std::get_if<LoadModule>(&operation);
  if (load == nullptr || !loads_.under_way(load->module)) return std::nullopt;
  return OperationResult{Outcome::NotAllowed, "an earlier load of it has not ended", EBUSY, {}};
}

Operations::Ground Operations::look_for(const Operation& operation) const {
  const auto* link = std::get_if<ConfigureLink>(&operation);
  return {load_config_or_safe(places_.root),
          look(places_.root, link != nullptr ? link->function : "")};
}

std::optional<OperationResult> Operations::refused_now(const Operation& operation) const {
  const Ground now = look_for(operation);
  return refused(operation, now.loaded, now.facts);
}

OperationResult Operations::act(const LoadModule& operation) {
  const std::string& module = operation.module;
  const auto insert = [paths = places_.modules, module] {
    const auto modules = Modules::open(paths);
    return modules ? modules->insert(module) : failed(modules.error());
  };
  return module == kDriverModule ? insert_driver(places_.root, insert) : loads_.run(module, insert);
}

OperationResult Operations::act(const BindFunction& operation) {
  return bind_function(places_.root, operation.function);
}

OperationResult Operations::act(const RebindFunction& operation) {
  return rebind_function(places_.root, operation.function, places_.access_memo,
                         [&] { return refused_now(operation); });
}

OperationResult Operations::act(const ReloadDriver& operation) {
  const auto modules = Modules::open(places_.modules);
  if (!modules) return failed(modules.error());
  return insert_driver(places_.root, [&] {
    return reload_driver({[&] { return modules->rehearse_again(places_.root, kDriverModule); },
                          [&] { return refused_now(operation); },
                          [&] { return modules->remove(kDriverModule); },
                          [&] { return modules->insert(kDriverModule); }});
  });
}

OperationResult Operations::act(const ConfigureLink& operation, const Ground& ground) {
  auto records = probes::read_address_records(places_.root);
  if (!records) return failed(records.error());
  auto saved = *records;
  const auto& [loaded, facts] = ground;
  const AdapterFacts* adapter = find(facts, operation.function);
  if (adapter == nullptr) return failed({ENODEV, "looking for function", operation.function});
  // The guard has allowed the link by its name, which is looked up again at the time of use.
  const auto index = interface_of(places_.root, adapter->pci.net_function, operation.netdev);
  if (!index) return failed(index.error());
  auto socket = RouteSocket::open();
  if (!socket) return failed(socket.error());
  const auto entry = config_of(loaded.config, *adapter);
  if (!entry) return failed(entry.error());
  const LinkSettings settings{operation.mtu, operation.addresses, (*entry)->addresses,
                              operation.removes && loaded.config.complete,
                              [&] { return alone_with(places_, operation.function); }};
  const auto save = [&](const AddressRecords& now) {
    return replace_file(places_.root / probes::kAddressRecords, probes::format_address_records(now))
        .map([&] { saved = now; });
  };
  OperationResult result = configure_link(*socket, *index, settings, *records, save);
  if (*records == saved) return result;
  const auto noted = save(*records);
  return noted ? result : failed(noted.error());
}

OperationResult release(const Places& places) {
  const auto opened = reopen_access_left_closed(places.access_memo);
  OperationResult result = release_functions(places);
  if (!opened && result.good()) return failed(opened.error());
  if (opened.value_or(false) && result.good()) result.outcome = Outcome::Done;
  return result;
}

}  // namespace pvrdma::executor
