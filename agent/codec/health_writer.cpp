// SPDX-License-Identifier: GPL-2.0-or-later
// io.pvrdma.Agent: Health and Plan -> JSON. Every member of the interface is always present, null
// where there is no value; an unreadable field is null and also named in `unreadable`.
#include <algorithm>
#include <span>
#include <utility>

#include "agent/codec/json.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::codec {

namespace {

constexpr int kHealthVersion = 1;

// In addition to the overloads in this file.
using codec::to_json;

// The value, or null.
template <typename T>
Json value(const Field<T>& field) {
  return field.is_known() ? Json(*field.get()) : Json(nullptr);
}

template <has_words Enum>
Json value(const Field<Enum>& field) {
  return field.is_known() ? Json(to_string(*field.get())) : Json(nullptr);
}

Json to_json(const Port& port) {
  return {{"state", value(port.state)},
          {"phys_state", value(port.phys_state)},
          {"active_mtu", value(port.active_mtu)},
          {"link_layer", value(port.link_layer)}};
}

Json to_json(const Gid& gid) {
  return {{"index", gid.index},
          {"gid", gid.gid},
          {"type", value(gid.type)},
          {"netdev", value(gid.netdev)}};
}

Json to_json(const ApplicationGid& gid) {
  return {{"address", gid.address}, {"gid", gid.gid}, {"index", gid.index}, {"type", gid.type}};
}

Json to_json(const AdapterHealth& health);

template <typename T>
Json array_of(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& one : values) array.push_back(to_json(one));
  return array;
}

void put_rdma(Json& into, const RdmaDevice* rdma) {
  into["rdma_device"] = rdma ? Json(rdma->name) : Json(nullptr);
  into["aliases"] = rdma ? Json(rdma->aliases) : Json::array();
  into["uverbs"] = rdma ? value(rdma->uverbs) : Json(nullptr);
  into["node_guid"] = rdma ? value(rdma->node_guid) : Json(nullptr);
  into["rdma_netdev"] = rdma ? value(rdma->netdev) : Json(nullptr);
  into["port"] = rdma ? to_json(rdma->port) : Json(nullptr);
  into["gids"] = rdma ? array_of(rdma->gids) : Json::array();
}

void put_netdev(Json& into, const Netdev* netdev) {
  into["netdev"] = netdev ? Json(netdev->name) : Json(nullptr);
  into["mac"] = netdev ? Json(netdev->mac) : Json(nullptr);
  into["mtu"] = netdev ? Json(netdev->mtu) : Json(nullptr);
  into["link_up"] = netdev ? Json(netdev->link_up) : Json(nullptr);
  into["carrier"] = netdev ? value(netdev->carrier) : Json(nullptr);
  into["operstate"] = netdev ? Json(netdev->operstate) : Json(nullptr);
  Json& addresses = into["addresses"] = Json::array();
  if (netdev != nullptr)
    for (const LinkAddress& address : netdev->addresses) addresses.push_back(address.text);
}

Json to_json(const AdapterHealth& health) {
  Json into = {{"function", health.adapter.function},
               {"net_function", health.adapter.net_function},
               {"state", to_string(health.state)},
               {"driver", value(health.adapter.driver)},
               {"managed_by", health.managed_by},
               {"transitions", health.transitions},
               {"last_change", wall_time(health.last_change)},
               {"gid_moves", health.gid_moves}};
  put_netdev(into, health.adapter.netdev.get());
  put_rdma(into, health.adapter.rdma_device.get());
  into["application_gid"] =
      health.application_gid ? to_json(*health.application_gid) : Json(nullptr);
  Json& unreadable = into["unreadable"] = Json::array();
  for (const auto& [name, error] : unreadable_of(health.adapter))
    unreadable.push_back(name + ": " + error.message());
  return into;
}

// Never negative: a look may end after the caller has read the clock.
std::int64_t ms_between(BootTime from, BootTime to) {
  return std::max<std::int64_t>((to - from).count(), 0);
}

Json busy_json(const std::optional<CallUnderWay>& busy, BootTime now) {
  if (!busy) return nullptr;
  return {{"call", describe(busy->operation)},
          {"for_ms", ms_between(busy->since, now)},
          {"stuck", busy->stuck}};
}

}  // namespace

Json to_json(const std::vector<Holder>& holders) {
  Json array = Json::array();
  for (const Holder& holder : std::span{holders}.first(std::min(holders.size(), kHoldersAtMost)))
    array.push_back(
        {{"pid", holder.pid}, {"command", holder.command}, {"rdma_device", holder.rdma_device}});
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
  // The default of Health, the start of the boot, means that no look has finished.
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

}  // namespace pvrdma::codec
