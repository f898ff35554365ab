// SPDX-License-Identifier: GPL-2.0-or-later
// Health objects as io.pvrdma.Agent sends them, one for each kind of screen, and their values after
// reading.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agent/codec/json.hpp"
#include "agent/ctl/environment.hpp"
#include "agent/ctl/rendering.hpp"

namespace samples {

using Json = nlohmann::json;

// Three minutes after the `since` of the samples.
inline const pvrdma::Moment kNow{pvrdma::from_ms(864'000'000),
                                 pvrdma::Milliseconds{1'795'228'483'500}};
inline const pvrdma::ctl::Style kPlain{80, false, kNow};

inline Json ready_adapter() {
  return Json::parse(R"({
    "function": "0000:13:00.1", "net_function": "0000:13:00.0", "state": "ready",
    "driver": "vmw_pvrdma", "rdma_device": "rocep19s0f1", "aliases": ["vmw_pvrdma0"],
    "uverbs": "uverbs0", "node_guid": "0250:56ff:fe8a:9fc2", "rdma_netdev": "ens224f0",
    "netdev": "ens224f0", "mac": "00:50:56:8a:9f:c2", "mtu": 9000, "link_up": true,
    "carrier": true, "operstate": "up", "managed_by": "agent",
    "addresses": ["192.168.30.201/24", "fe80::250:56ff:fe8a:9fc2/64"],
    "port": {"state": "ACTIVE", "phys_state": "LINK_UP", "active_mtu": 1024,
             "link_layer": "Ethernet"},
    "gids": [{"index": 0, "gid": "fe80::250:56ff:fe8a:9fc2", "type": "RoCE v2", "netdev": null},
             {"index": 1, "gid": "::ffff:192.168.30.201", "type": "RoCE v2", "netdev": null}],
    "application_gid": {"address": "192.168.30.201", "gid": "::ffff:192.168.30.201",
                        "index": 1, "type": "RoCE v2"}, "gid_moves": 0,
    "transitions": 3, "last_change": "2026-11-21T02:31:43Z", "unreadable": []})");
}

// Its link has no carrier, and its driver is not bound.
inline Json broken_adapter() {
  return Json::parse(R"({
    "function": "0000:1b:00.1", "net_function": "0000:1b:00.0", "state": "failed",
    "driver": null, "rdma_device": null, "aliases": [], "uverbs": null, "node_guid": null,
    "rdma_netdev": null, "netdev": "ens256f0", "mac": "00:50:56:8a:9f:c3", "mtu": 1500,
    "link_up": true, "carrier": false, "operstate": "lowerlayerdown", "managed_by": "nobody",
    "addresses": [], "port": null, "gids": [], "gid_moves": 0, "transitions": 0,
    "last_change": "2026-11-21T02:31:43Z", "unreadable": []})");
}

inline Json finding(const std::string& id, const std::string& severity, const std::string& summary,
                    const std::string& remedy) {
  return {{"id", id},
          {"severity", severity},
          {"actor", "guest"},
          {"adapter", nullptr},
          {"summary", summary},
          {"remedy", remedy},
          {"evidence", {{"holders", Json::array()}, {"values", Json::object()}}}};
}

inline Json health(const std::string& state, const std::string& summary) {
  return {{"version", 1},
          {"state", state},
          {"since", "2026-11-21T02:31:43Z"},
          {"observed_ms_ago", 12},
          {"summary", summary},
          {"adapters", Json::array()},
          {"findings", Json::array()},
          {"executor", {{"busy", nullptr}, {"reloads", 0}, {"rebinds", 0}}}};
}

inline Json ready() {
  Json health = samples::health("ready", "1 of 1 adapters ready");
  health["adapters"].push_back(ready_adapter());
  return health;
}

inline Json converging() {
  Json health = samples::health("converging", "0 of 1 adapters ready");
  health["adapters"].push_back(ready_adapter());
  Json& adapter = health["adapters"][0];
  adapter["state"] = "converging";
  adapter["port"]["state"] = "DOWN";
  adapter["port"]["phys_state"] = "DISABLED";
  adapter["port"]["active_mtu"] = nullptr;
  adapter["link_up"] = false;
  adapter["carrier"] = nullptr;
  adapter["addresses"] = Json::array();
  adapter["gids"] = Json::array();
  adapter["transitions"] = 0;
  health["executor"]["busy"] = {
      {"call", "ConfigureLink 0000:13:00.1"}, {"for_ms", 40}, {"stuck", false}};
  return health;
}

inline Json held_finding() {
  Json held = finding("driver-in-use", "warning",
                      "vmw_pvrdma ought to be reloaded (ib_umad was loaded after it), but is held.",
                      "Nothing is unloaded while a process holds an adapter.");
  held["evidence"]["holders"] = Json::parse(
      R"([{"pid": 812, "command": "ibv_asyncwatch", "rdma_device": "rocep19s0f1"},
          {"pid": 813, "command": "\u001b[2J\u202eevil", "rdma_device": "rocep19s0f1"},
          {"pid": 814, "command": "", "rdma_device": ""}])");
  return held;
}

inline Json degraded() {
  Json health =
      samples::health("degraded",
                      "1 of 1 adapters ready: vmw_pvrdma ought to be reloaded (ib_umad was "
                      "loaded after it), but is held.");
  health["adapters"].push_back(ready_adapter());
  health["findings"] = Json::array(
      {finding("module-not-shipped", "info", "The kernel 6.1.0-18 does not ship mlx4_ib.", ""),
       held_finding()});
  health["executor"]["reloads"] = 2;
  return health;
}

// The host keeps the port DOWN; a second adapter is worse.
inline Json failed() {
  Json health = samples::health("failed", "1 of 2 adapters ready");
  health["observed_ms_ago"] = 95000;
  health["adapters"] = Json::array({ready_adapter(), broken_adapter()});
  health["adapters"][1]["unreadable"].push_back(
      "net_driver: reading /sys/bus/pci/x: Permission denied");
  Json down = finding(
      "port-down", "error", "The port is DOWN though its link is up: the host holds it down.",
      "On the ESXi host check that Net.PVRDMAVmknic is set (esxcli system settings advanced set -o "
      "/Net/PVRDMAVmknic -s vmk0).");
  down["adapter"] = "0000:1b:00.1";
  down["actor"] = "host";
  health["findings"].push_back(down);
  return health;
}

inline Json stuck() {
  Json health = samples::health("converging", "0 of 0 adapters ready");
  health["executor"]["busy"] = {{"call", "LoadModule mlx4_ib"}, {"for_ms", 45000}, {"stuck", true}};
  return health;
}

inline Json absent() { return samples::health("absent", "no PVRDMA adapter"); }

inline Json unknown() {
  Json health = samples::health("unknown", "no look has finished yet");
  health["observed_ms_ago"] = nullptr;
  return health;
}

// The adapter's driver is not bound, so there is no device.
inline Json without_device() {
  Json health = failed();
  health["adapters"] = Json::array({broken_adapter()});
  return health;
}

// The agent hangs in a look.
inline Json stale() {
  Json health = ready();
  health["state"] = "unknown";
  health["observed_ms_ago"] = 95000;
  health["summary"] = "the last look is 95 s old; before it: 1 of 1 adapters ready";
  return health;
}

inline pvrdma::Health value(const Json& health) {
  return pvrdma::codec::health_from(health, kNow).value();
}
inline pvrdma::Plan plan_value(const Json& plan) {
  return pvrdma::codec::plan_from(plan, kNow).value();
}

inline std::string render_health(const Json& health, const pvrdma::ctl::Style& style) {
  return pvrdma::ctl::render_health(value(health), style);
}
inline std::string render_status(const Json& health, const pvrdma::ctl::Style& style) {
  return pvrdma::ctl::render_status(value(health), style);
}
inline std::string render_adapter(const Json& adapter, const pvrdma::ctl::Style& style) {
  Json health = samples::health("ready", "");
  health["adapters"].push_back(adapter);
  return pvrdma::ctl::render_adapter(value(health).adapters.front(), style);
}
inline std::vector<std::string> changes(const Json& before, const Json& after) {
  const pvrdma::Health old = before.is_null() ? pvrdma::Health{} : value(before);
  return pvrdma::ctl::changes(before.is_null() ? nullptr : &old, value(after));
}

}  // namespace samples
