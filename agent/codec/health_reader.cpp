// SPDX-License-Identifier: GPL-2.0-or-later
// io.pvrdma.Agent: JSON -> Health and Plan. The JSON is first checked against the interface, so
// that each member exists and has its type. Then it is converted, in the order of the interface.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/codec/json.hpp"
#include "agent/model/fields.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::codec {

namespace {

tl::unexpected<Error> bad(const std::string& what) {
  return fail(EBADMSG, "reading the agent's answer", what);
}

// The error of a value that does not fit this type of the interface; none: it fits.
std::optional<Error> differs(const char* type, const Json& value) {
  static const auto kInterface = varlink::parse_interface(varlink::kAgentInterface);
  if (!kInterface) return kInterface.error();
  const auto wrong =
      varlink::mismatch(*kInterface, kInterface->types.at(type), value, varlink::Strictness::Reply);
  if (!wrong) return std::nullopt;
  return Error{EBADMSG, "reading the agent's answer", printable(*wrong)};
}

// True where the member is null or missing.
bool is_none(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null();
}

std::string text(const Json& value) { return printable(value.get_ref<const std::string&>()); }
std::string text(const Json& object, const char* key) { return text(object.at(key)); }

std::vector<std::string> texts(const Json& object, const char* key) {
  std::vector<std::string> list;
  for (const Json& item : object.at(key)) list.push_back(text(item));
  return list;
}

// Limits the number to the range from 0 to the largest `Number`.
template <typename Number>
Number count(const Json& object, const char* key) {
  const Json& number = object.at(key);
  if (number.is_number_integer() && !number.is_number_unsigned() && number.get<std::int64_t>() < 0)
    return 0;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  return static_cast<Number>(std::min(number.get<std::uint64_t>(), kMost));
}

// Limits an age to a hundred years, so that arithmetic with it cannot overflow.
Milliseconds age(const Json& object, const char* key) {
  return std::min<Milliseconds>(Milliseconds{count<std::int64_t>(object, key)},
                                std::chrono::hours{24 * 365 * 100});
}

BootTime time(const Json& object, const char* key, const Moment& now) {
  return boot_time_from(text(object, key), now).value_or(BootTime{});
}

// Known or absent; take_unreadable() adds the third case.
Field<std::string> field(const Json& object, const char* key) {
  return is_none(object, key) ? Field<std::string>{} : text(object, key);
}
// A newer agent may send a word that is not known here.
template <has_words Enum>
Field<Enum> word_field(const Json& object, const char* key) {
  if (is_none(object, key)) return {};
  const std::string word = text(object, key);
  const auto value = from_word<Enum>(word);
  return value ? Field<Enum>{*value} : Field<Enum>::unreadable({EBADMSG, "reading", word});
}

// Marks as unreadable the absent fields that `unreadable` names.
void take_unreadable(const Json& json, Adapter& adapter) {
  for (const std::string& entry : texts(json, "unreadable")) {
    const std::size_t colon = entry.find(": ");
    const std::string name = entry.substr(0, colon);
    each_field(adapter, [&](const FieldPath& path, auto& field) {
      if (field.is_absent() && interface_name(path.text()) == name)
        field = std::decay_t<decltype(field)>::unreadable(
            {0, colon == std::string::npos ? "" : entry.substr(colon + 2), ""});
    });
  }
}

Field<Netdev> netdev_from(const Json& adapter) {
  if (is_none(adapter, "netdev")) return {};
  Netdev netdev;
  netdev.name = text(adapter, "netdev");
  if (!is_none(adapter, "mac")) netdev.mac = text(adapter, "mac");
  if (!is_none(adapter, "mtu")) netdev.mtu = count<unsigned>(adapter, "mtu");
  netdev.link_up = !is_none(adapter, "link_up") && adapter.at("link_up").get<bool>();
  if (!is_none(adapter, "carrier")) netdev.carrier = adapter.at("carrier").get<bool>();
  if (!is_none(adapter, "operstate")) netdev.operstate = text(adapter, "operstate");
  for (std::string& address : texts(adapter, "addresses"))
    netdev.addresses.push_back({std::move(address), false, false, false});
  return netdev;
}

Port port_from(const Json& port) {
  Port result;
  result.state = word_field<PortState>(port, "state");
  result.phys_state = word_field<PhysState>(port, "phys_state");
  if (!is_none(port, "active_mtu")) result.active_mtu = count<unsigned>(port, "active_mtu");
  result.link_layer = field(port, "link_layer");
  return result;
}

Field<RdmaDevice> rdma_from(const Json& adapter) {
  if (is_none(adapter, "rdma_device")) return {};
  RdmaDevice rdma;
  rdma.name = text(adapter, "rdma_device");
  rdma.aliases = texts(adapter, "aliases");
  rdma.uverbs = field(adapter, "uverbs");
  rdma.node_guid = field(adapter, "node_guid");
  rdma.netdev = field(adapter, "rdma_netdev");
  if (!is_none(adapter, "port")) rdma.port = port_from(adapter.at("port"));
  for (const Json& gid : adapter.at("gids"))
    rdma.gids.push_back({count<unsigned>(gid, "index"), text(gid, "gid"), field(gid, "type"),
                         field(gid, "netdev")});
  return rdma;
}

AdapterHealth adapter_from(const Json& json, const Moment& now) {
  AdapterHealth health;
  health.adapter.function = text(json, "function");
  health.adapter.net_function = text(json, "net_function");
  health.adapter.driver = field(json, "driver");
  health.adapter.netdev = netdev_from(json);
  health.adapter.rdma_device = rdma_from(json);
  take_unreadable(json, health.adapter);
  health.state = from_word<State>(text(json, "state")).value_or(State::Unknown);
  health.managed_by = text(json, "managed_by");
  health.transitions = count<std::uint64_t>(json, "transitions");
  health.last_change = time(json, "last_change", now);
  health.gid_moves = count<std::uint64_t>(json, "gid_moves");
  if (!is_none(json, "application_gid")) {
    const Json& gid = json.at("application_gid");
    health.application_gid = ApplicationGid{text(gid, "address"), text(gid, "gid"),
                                            count<unsigned>(gid, "index"), text(gid, "type")};
  }
  return health;
}

Finding finding_from(const Json& json) {
  Finding finding;
  finding.id = finding_id_from(json.at("id").get_ref<const std::string&>());
  finding.severity = from_word<Severity>(text(json, "severity")).value_or(Severity::Info);
  finding.actor = from_word<Actor>(text(json, "actor")).value_or(Actor::Guest);
  if (!is_none(json, "adapter")) finding.adapter = text(json, "adapter");
  finding.summary = text(json, "summary");
  finding.remedy = text(json, "remedy");
  const Json& evidence = json.at("evidence");
  for (const auto& [name, value] : evidence.at("values").items())
    finding.values[printable(name)] = text(value);
  finding.holders = holders_from(evidence.at("holders")).value_or(std::vector<Holder>{});
  return finding;
}

std::vector<Finding> findings_from(const Json& list) {
  std::vector<Finding> findings;
  for (const Json& finding : list) findings.push_back(finding_from(finding));
  return findings;
}

// "LoadModule mlx4_ib"
std::optional<Operation> call_from(const std::string& call) {
  std::string_view rest = call;
  const auto verb = from_word<Verb>(cut(rest, ' '));
  return verb ? std::optional{operation_on(*verb, std::string{rest})} : std::nullopt;
}

}  // namespace

Operation operation_on(Verb verb, std::string target) {
  switch (verb) {
    case Verb::LoadModule:
      return LoadModule{std::move(target)};
    case Verb::BindFunction:
      return BindFunction{std::move(target)};
    case Verb::RebindFunction:
      return RebindFunction{std::move(target)};
    case Verb::ReloadDriver:
      return ReloadDriver{};
    case Verb::ConfigureLink:
      break;
  }
  return ConfigureLink{std::move(target), "", std::nullopt, {}};
}

Result<std::vector<Holder>> holders_from(const Json& holders) {
  if (!holders.is_array()) return bad("holders");
  std::vector<Holder> list;
  for (const Json& holder : holders) {
    if (auto wrong = differs("Holder", holder)) return fail(std::move(*wrong));
    list.push_back(
        {count<pid_t>(holder, "pid"), text(holder, "command"), text(holder, "rdma_device")});
  }
  return list;
}

Result<Health> health_from(const Json& json, const Moment& now) {
  if (auto wrong = differs("Health", json)) return fail(std::move(*wrong));
  Health health;
  health.state = from_word<State>(text(json, "state")).value_or(State::Unknown);
  health.since = time(json, "since", now);
  if (!is_none(json, "observed_ms_ago")) health.observed = now.boot - age(json, "observed_ms_ago");
  health.summary = text(json, "summary");
  for (const Json& adapter : json.at("adapters"))
    health.adapters.push_back(adapter_from(adapter, now));
  health.findings = findings_from(json.at("findings"));
  const Json& executor = json.at("executor");
  health.reloads = count<std::uint64_t>(executor, "reloads");
  health.rebinds = count<std::uint64_t>(executor, "rebinds");
  if (is_none(executor, "busy")) return health;
  const Json& busy = executor.at("busy");
  auto call = call_from(text(busy, "call"));
  if (!call) return bad("executor.busy.call");
  health.busy =
      CallUnderWay{std::move(*call), now.boot - age(busy, "for_ms"), busy.at("stuck").get<bool>()};
  return health;
}

Result<Plan> plan_from(const Json& json, const Moment& now) {
  if (auto wrong = differs("Plan", json)) return fail(std::move(*wrong));
  Plan plan;
  for (const Json& action : json.at("actions")) {
    const auto verb = from_word<Verb>(text(action, "verb"));
    if (!verb) return bad("actions.verb");
    plan.actions.push_back({operation_on(*verb, text(action, "target")), text(action, "reason")});
  }
  plan.findings = findings_from(json.at("findings"));
  if (!is_none(json, "next_look_in_ms")) plan.next_look = now.boot + age(json, "next_look_in_ms");
  return plan;
}

}  // namespace pvrdma::codec
