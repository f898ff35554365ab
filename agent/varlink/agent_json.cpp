// io.pvrdma.Agent: Health and Plan -> JSON. Every member of the interface is always there, null
// where there is no value; what could not be read is null and named in `unreadable` as well.
#include <algorithm>
#include <string>
#include <utility>

#include "agent/varlink/json.hpp"

namespace pvrdma::varlink {

namespace {

constexpr int kHealthVersion = 1;

// Puts Fields into an object and notes the unreadable ones on the way.
class FieldWriter {
 public:
  // The value, or null. `name` is the member's path within the adapter.
  template <typename T>
  Json value(const Field<T>& field, const std::string& name) {
    note(field, name);
    return field.is_known() ? Json(*field.get()) : Json(nullptr);
  }
  template <typename T>
  void note(const Field<T>& field, const std::string& name) {
    if (const Error* error = field.error()) unreadable_.push_back(name + ": " + error->message());
  }
  [[nodiscard]] Json unreadable() && { return std::move(unreadable_); }

 private:
  Json unreadable_ = Json::array();
};

Json port_json(const Port& port, FieldWriter& fields) {
  fields.note(port.verbs_state, "port.verbs_state");
  return {{"state", fields.value(port.state, "port.state")},
          {"phys_state", fields.value(port.phys_state, "port.phys_state")},
          {"active_mtu", fields.value(port.active_mtu, "port.active_mtu")},
          {"link_layer", fields.value(port.link_layer, "port.link_layer")}};
}

Json gid_json(const Gid& gid, FieldWriter& fields) {
  const std::string path = "gids[" + std::to_string(gid.index) + "].";
  return {{"index", gid.index},
          {"gid", gid.gid},
          {"type", fields.value(gid.type, path + "type")},
          {"netdev", fields.value(gid.netdev, path + "netdev")}};
}

Json gid_json(const ApplicationGid& gid) {
  return {{"address", gid.address}, {"gid", gid.gid}, {"index", gid.index}, {"type", gid.type}};
}

void put_rdma(Json& into, const Field<RdmaDevice>& field, FieldWriter& fields) {
  fields.note(field, "rdma_device");
  const RdmaDevice none;
  const RdmaDevice& rdma = field.is_known() ? *field.get() : none;
  into["rdma_device"] = field.is_known() ? Json(rdma.name) : Json(nullptr);
  into["aliases"] = rdma.aliases;
  into["uverbs"] = fields.value(rdma.uverbs, "uverbs");
  into["node_guid"] = fields.value(rdma.node_guid, "node_guid");
  into["rdma_netdev"] = fields.value(rdma.netdev, "rdma_netdev");
  into["port"] = field.is_known() ? port_json(rdma.port, fields) : Json(nullptr);
  Json gids = Json::array();
  for (const Gid& gid : rdma.gids) gids.push_back(gid_json(gid, fields));
  into["gids"] = std::move(gids);
}

void put_netdev(Json& into, const Field<Netdev>& field, FieldWriter& fields) {
  fields.note(field, "netdev");
  const Netdev* netdev = field.get();
  into["netdev"] = netdev ? Json(netdev->name) : Json(nullptr);
  into["mac"] = netdev ? Json(netdev->mac) : Json(nullptr);
  into["mtu"] = netdev ? Json(netdev->mtu) : Json(nullptr);
  into["link_up"] = netdev ? Json(netdev->up) : Json(nullptr);
  into["carrier"] = netdev ? fields.value(netdev->carrier, "carrier") : Json(nullptr);
  if (netdev != nullptr) fields.note(netdev->owner, "owner");
  into["operstate"] = netdev ? Json(netdev->operstate) : Json(nullptr);
  Json addresses = Json::array();
  if (netdev != nullptr)
    for (const LinkAddress& address : netdev->addresses) addresses.push_back(address.text);
  into["addresses"] = std::move(addresses);
}

Json adapter_json(const AdapterHealth& health) {
  FieldWriter fields;
  Json into = {{"function", health.adapter.function},
               {"net_function", health.adapter.net_function},
               {"state", to_string(health.state)},
               {"driver", fields.value(health.adapter.driver, "driver")},
               {"managed_by", health.managed_by},
               {"transitions", health.transitions},
               {"last_change", wall_time(health.last_change)}};
  fields.note(health.adapter.net_driver, "net_driver");
  put_netdev(into, health.adapter.netdev, fields);
  put_rdma(into, health.adapter.rdma, fields);
  into["gid_moves"] = health.gid_moves;
  into["application_gid"] =
      health.application_gid ? gid_json(*health.application_gid) : Json(nullptr);
  into["unreadable"] = std::move(fields).unreadable();
  return into;
}

template <typename T>
Json array_of(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

Json array_of(const std::vector<AdapterHealth>& adapters) {
  Json array = Json::array();
  for (const AdapterHealth& adapter : adapters) array.push_back(adapter_json(adapter));
  return array;
}

// Never negative: a look may end between the caller's glance at the clock and this one.
std::int64_t ms_between(BootTime from, BootTime to) {
  return std::max<std::int64_t>((to - from).count(), 0);
}

Json busy_json(const std::optional<BusyCall>& busy, BootTime now) {
  if (!busy) return nullptr;
  return {
      {"call", describe(*busy)}, {"for_ms", ms_between(busy->since, now)}, {"stuck", busy->stuck}};
}

}  // namespace

Json to_json(const Holder& holder) {
  return {{"pid", holder.pid}, {"command", holder.command}, {"rdma_device", holder.rdma_device}};
}

Json to_json(const std::vector<Holder>& holders) {
  Json array = Json::array();
  for (std::size_t at = 0; at < std::min(holders.size(), kHoldersAtMost); ++at)
    array.push_back(to_json(holders[at]));
  return array;
}

Json to_json(const Finding& finding) {
  return {{"id", to_string(finding.id)},
          {"severity", to_string(finding.severity)},
          {"adapter", finding.adapter ? Json(*finding.adapter) : Json(nullptr)},
          {"summary", finding.summary},
          {"remedy", finding.remedy},
          {"actor", to_string(finding.actor)},
          {"evidence", {{"holders", to_json(finding.holders)}, {"values", Json(finding.values)}}}};
}

Json to_json(const Health& health, BootTime now) {
  // The boot's own beginning: no look has finished (Health's default).
  const bool observed = health.observed != BootTime{};
  return {{"version", kHealthVersion},
          {"state", to_string(health.state)},
          {"since", wall_time(health.since)},
          {"observed_ms_ago", observed ? Json(ms_between(health.observed, now)) : Json(nullptr)},
          {"summary", health.summary},
          {"adapters", array_of(health.adapters)},
          {"findings", array_of(health.findings)},
          {"executor",
           {{"busy", busy_json(health.busy, now)},
            {"reloads", health.reloads},
            {"rebinds", health.rebinds}}}};
}

Json to_json(const Plan& plan, BootTime now) {
  Json actions = Json::array();
  for (const Action& action : plan.actions)
    actions.push_back({{"verb", to_string(verb(action.operation))},
                       {"target", target(action.operation)},
                       {"reason", action.reason}});
  return {
      {"actions", std::move(actions)},
      {"findings", array_of(plan.findings)},
      {"next_look_in_ms", plan.next_look ? Json(ms_between(now, *plan.next_look)) : Json(nullptr)}};
}

}  // namespace pvrdma::varlink
