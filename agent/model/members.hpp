// SPDX-License-Identifier: GPL-2.0-or-later
// The members of the model's values, each by its name in JSON. All code that walks over members
// uses these lists. `visit(name, member)` is called for each member, in order; `Value` may be
// const.
#pragma once

#include <concepts>
#include <type_traits>

#include "agent/model/event.hpp"

namespace pvrdma {

template <typename Value, typename Type>
concept is_a = std::same_as<std::remove_const_t<Value>, Type>;

template <typename Visit, is_a<Error> Value>
void each_member(Value& error, Visit visit) {
  visit("errno", error.code);
  visit("doing", error.doing);
  visit("what", error.what);
}

// The Snapshot
template <typename Visit, is_a<Module> Value>
void each_member(Value& module, Visit visit) {
  visit("name", module.name);
  visit("init", module.init);
  visit("refcount", module.refcount);
  visit("load_order", module.load_order);
  visit("shipped", module.shipped);
  visit("needs", module.needs);
  visit("blocked", module.blocked);
}
template <typename Visit, is_a<LinkOwner> Value>
void each_member(Value& owner, Visit visit) {
  visit("manager", owner.manager);
  visit("decided", owner.decided);
  visit("file", owner.file);
  visit("master", owner.master);
}
template <typename Visit, is_a<LinkAddress> Value>
void each_member(Value& address, Visit visit) {
  visit("text", address.text);
  visit("ours", address.ours);
  visit("tentative", address.tentative);
  visit("duplicate", address.duplicate);
}
template <typename Visit, is_a<Netdev> Value>
void each_member(Value& netdev, Visit visit) {
  visit("name", netdev.name);
  visit("index", netdev.index);
  visit("mac", netdev.mac);
  visit("permanent_mac", netdev.permanent_mac);
  visit("mtu", netdev.mtu);
  visit("mtu_min", netdev.mtu_min);
  visit("mtu_max", netdev.mtu_max);
  visit("link_up", netdev.link_up);
  visit("carrier", netdev.carrier);
  visit("operstate", netdev.operstate);
  visit("addresses", netdev.addresses);
  visit("settled", netdev.settled);
  visit("owner", netdev.owner);
  visit("default_route", netdev.default_route);
}
template <typename Visit, is_a<Gid> Value>
void each_member(Value& gid, Visit visit) {
  visit("index", gid.index);
  visit("gid", gid.gid);
  visit("type", gid.type);
  visit("netdev", gid.netdev);
}
template <typename Visit, is_a<Port> Value>
void each_member(Value& port, Visit visit) {
  visit("state", port.state);
  visit("phys_state", port.phys_state);
  visit("verbs_state", port.verbs_state);
  visit("active_mtu", port.active_mtu);
  visit("link_layer", port.link_layer);
}
template <typename Visit, is_a<RdmaDevice> Value>
void each_member(Value& device, Visit visit) {
  visit("name", device.name);
  visit("aliases", device.aliases);
  visit("uverbs", device.uverbs);
  visit("node_guid", device.node_guid);
  visit("netdev", device.netdev);
  visit("port", device.port);
  visit("gids", device.gids);
}
template <typename Visit, is_a<Adapter> Value>
void each_member(Value& adapter, Visit visit) {
  visit("function", adapter.function);
  visit("net_function", adapter.net_function);
  visit("driver", adapter.driver);
  visit("net_driver", adapter.net_driver);
  visit("netdev", adapter.netdev);
  visit("rdma_device", adapter.rdma_device);
}
template <typename Visit, is_a<Holder> Value>
void each_member(Value& holder, Visit visit) {
  visit("pid", holder.pid);
  visit("command", holder.command);
  visit("rdma_device", holder.rdma_device);
}
template <typename Visit, is_a<Initramfs> Value>
void each_member(Value& image, Visit visit) {
  visit("path", image.path);
  visit("older_than", image.older_than);
}
template <typename Visit, is_a<BootScript> Value>
void each_member(Value& script, Visit visit) {
  visit("path", script.path);
  visit("ended", script.ended);
}
template <typename Visit, is_a<Attempt> Value>
void each_member(Value& attempt, Visit visit) {
  visit("verb", attempt.verb);
  visit("target", attempt.target);
  visit("started_ms", attempt.started);
  visit("finished_ms", attempt.finished);
  visit("outcome", attempt.outcome);
  visit("detail", attempt.detail);
}
template <typename Visit, is_a<Ledger> Value>
void each_member(Value& ledger, Visit visit) {
  visit("attempts", ledger.attempts);
  visit("refusals", ledger.refusals);
  visit("reloads", ledger.reloads);
  visit("rebinds", ledger.rebinds);
}
template <typename Visit, is_a<Snapshot> Value>
void each_member(Value& snapshot, Visit visit) {
  visit("kernel", snapshot.kernel);
  visit("modules", snapshot.modules);
  visit("adapters", snapshot.adapters);
  visit("holders", snapshot.holders);
  visit("first_nic", snapshot.first_nic);
  visit("initramfs", snapshot.initramfs);
  visit("boot_scripts", snapshot.boot_scripts);
  visit("boot_scripts_error", snapshot.boot_scripts_error);
  visit("customization", snapshot.customization);
  visit("ledger", snapshot.ledger);
  visit("ledger_error", snapshot.ledger_error);
  visit("taken_at_ms", snapshot.taken_at);
  visit("verbs_failed_ms", snapshot.verbs_failed);
}

// The Config
template <typename Visit, is_a<AdapterMatch> Value>
void each_member(Value& match, Visit visit) {
  visit("mac", match.mac);
  visit("pci", match.pci);
  visit("netdev", match.netdev);
}
template <typename Visit, is_a<AdapterConfig> Value>
void each_member(Value& adapter, Visit visit) {
  visit("match", adapter.match);
  visit("manage", adapter.manage);
  visit("mtu", adapter.mtu);
  visit("addresses", adapter.addresses);
  visit("gid_type", adapter.gid_type);
}
template <typename Visit, is_a<Config::Modules> Value>
void each_member(Value& modules, Visit visit) {
  visit("before", modules.before);
  visit("required", modules.required);
  visit("reload", modules.reload);
}
template <typename Visit, is_a<Config::Readiness> Value>
void each_member(Value& readiness, Visit visit) {
  visit("adapters", readiness.adapters);
  visit("timeout_ms", readiness.timeout);
  visit("forget_removed_ms", readiness.forget_removed);
}
template <typename Visit, is_a<Config::Guestinfo> Value>
void each_member(Value& guestinfo, Visit visit) {
  visit("enabled", guestinfo.enabled);
}
template <typename Visit, is_a<Config> Value>
void each_member(Value& config, Visit visit) {
  visit("modules", config.modules);
  visit("readiness", config.readiness);
  visit("guestinfo", config.guestinfo);
  visit("complete", config.complete);
  visit("every_adapter", config.every_adapter);
  visit("adapter", config.adapters);
}
template <typename Visit, is_a<TimeLimits> Value>
void each_member(Value& limits, Visit visit) {
  visit("ready_ms", limits.ready);
  visit("reload_ms", limits.reload);
  visit("socket_patience_ms", limits.socket_patience);
  visit("look_ms", limits.look);
}
template <typename Visit, is_a<Start> Value>
void each_member(Value& start, Visit visit) {
  visit("at_ms", start.at);
  visit("config", start.config);
  visit("left_out", start.left_out);
  visit("error", start.error);
  visit("limits", start.limits);
}

// Operations and their results
template <typename Visit, is_a<LoadModule> Value>
void each_member(Value& load, Visit visit) {
  visit("module", load.module);
}
template <typename Visit, is_a<BindFunction> Value>
void each_member(Value& bind, Visit visit) {
  visit("function", bind.function);
}
template <typename Visit, is_a<RebindFunction> Value>
void each_member(Value& rebind, Visit visit) {
  visit("function", rebind.function);
}
template <typename Visit, is_a<ReloadDriver> Value>
void each_member(Value& /*reload*/, Visit /*visit*/) {}
template <typename Visit, is_a<ConfigureLink> Value>
void each_member(Value& link, Visit visit) {
  visit("function", link.function);
  visit("netdev", link.netdev);
  visit("mtu", link.mtu);
  visit("addresses", link.addresses);
  visit("removes", link.removes);
}
template <typename Visit, is_a<OperationResult> Value>
void each_member(Value& result, Visit visit) {
  visit("outcome", result.outcome);
  visit("detail", result.detail);
  visit("errno", result.code);
  visit("holders", result.holders);
}

// Events; a Looked is written by parts (agent/codec/recording.cpp)
template <typename Visit, is_a<Looked> Value>
void each_member(Value& looked, Visit visit) {
  visit("began_ms", looked.began);
  visit("snapshot", looked.snapshot);
}
template <typename Visit, is_a<LookedSame> Value>
void each_member(Value& looked, Visit visit) {
  visit("ended_ms", looked.ended);
}
template <typename Visit, is_a<KernelChanged> Value>
void each_member(Value& /*changed*/, Visit /*visit*/) {}
template <typename Visit, is_a<CallEnded> Value>
void each_member(Value& ended, Visit visit) {
  visit("operation", ended.operation);
  visit("result", ended.result);
}
template <typename Visit, is_a<ExecutorUnreachable> Value>
void each_member(Value& unreachable, Visit visit) {
  visit("operation", unreachable.operation);
  visit("error", unreachable.error);
}
template <typename Value>
concept asks = is_a<Value, HealthAsked> || is_a<Value, PlanAsked> || is_a<Value, RefreshAsked>;
template <typename Visit, asks Value>
void each_member(Value& asked, Visit visit) {
  visit("client", asked.client);
  visit("caller", asked.caller);
}
template <typename Visit, is_a<WatchAsked> Value>
void each_member(Value& asked, Visit visit) {
  visit("client", asked.client);
  visit("more", asked.more);
}
template <typename Value>
concept names_adapter = is_a<Value, ReloadAsked> || is_a<Value, AcknowledgeAsked>;
template <typename Visit, names_adapter Value>
void each_member(Value& asked, Visit visit) {
  visit("client", asked.client);
  visit("caller", asked.caller);
  visit("adapter", asked.adapter);
}
template <typename Visit, is_a<ClientLeft> Value>
void each_member(Value& left, Visit visit) {
  visit("client", left.client);
}
template <typename Visit, is_a<ConfigLoaded> Value>
void each_member(Value& loaded, Visit visit) {
  visit("requested", loaded.requested);
  visit("config", loaded.config);
  visit("left_out", loaded.left_out);
  visit("files", loaded.files);
  visit("error", loaded.error);
  visit("unreadable", loaded.unreadable);
}
template <typename Visit, is_a<Deadline> Value>
void each_member(Value& deadline, Visit visit) {
  visit("looking_since_ms", deadline.looking_since);
}

}  // namespace pvrdma
