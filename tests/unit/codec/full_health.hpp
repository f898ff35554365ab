// SPDX-License-Identifier: GPL-2.0-or-later
// A health with each part that the interface has: a ready adapter, one whose fields cannot be read,
// and a bare one.
#pragma once

#include <cerrno>
#include <chrono>

#include "agent/model/health.hpp"

namespace pvrdma::test {

inline const Error kDenied{EACCES, "reading", "/sys/x"};

inline Adapter full_adapter() {
  Netdev netdev;
  netdev.name = "ens224f0";
  netdev.mac = "00:50:56:8a:9f:c2";
  netdev.mtu = 9000;
  netdev.link_up = true;
  netdev.carrier = true;
  netdev.operstate = "up";
  netdev.addresses = {{"192.168.30.201/24"}};
  RdmaDevice rdma;
  rdma.name = "rocep19s0f1";
  rdma.aliases = {"vmw_pvrdma0"};
  rdma.uverbs = std::string{"uverbs0"};
  rdma.node_guid = std::string{"0250:56ff:fe8a:9fc2"};
  rdma.netdev = std::string{"ens224f0"};
  rdma.port.state = PortState::Active;
  rdma.port.phys_state = PhysState::LinkUp;
  rdma.port.active_mtu = 1024U;
  rdma.port.link_layer = std::string{"Ethernet"};
  rdma.gids = {{1, "::ffff:192.168.30.201", std::string{"RoCE v2"}, std::string{"ens224f0"}}};
  Adapter adapter;
  adapter.function = "0000:13:00.1";
  adapter.net_function = "0000:13:00.0";
  adapter.driver = std::string{"vmw_pvrdma"};
  adapter.netdev = netdev;
  adapter.rdma_device = rdma;
  return adapter;
}

inline Adapter unreadable_adapter() {
  Adapter adapter = full_adapter();
  adapter.driver = Field<std::string>::unreadable(kDenied);
  adapter.net_driver = Field<std::string>::unreadable(kDenied);
  adapter.netdev.get()->carrier = Field<bool>::unreadable(kDenied);
  RdmaDevice& rdma = *adapter.rdma_device.get();
  rdma.uverbs = rdma.node_guid = rdma.netdev = Field<std::string>::unreadable(kDenied);
  rdma.port.state = rdma.port.verbs_state = Field<PortState>::unreadable(kDenied);
  rdma.port.phys_state = Field<PhysState>::unreadable(kDenied);
  rdma.port.link_layer = Field<std::string>::unreadable(kDenied);
  rdma.port.active_mtu = Field<unsigned>::unreadable(kDenied);
  rdma.gids[0].type = rdma.gids[0].netdev = Field<std::string>::unreadable(kDenied);
  return adapter;
}

inline Health full_health(BootTime now) {
  Health health;
  health.state = State::Degraded;
  health.since = now - std::chrono::seconds{10};
  health.observed = now - Milliseconds{12};
  health.summary = "1 of 3 adapters ready";
  Adapter bare;
  bare.function = "0000:1b:00.1";
  bare.net_function = "0000:1b:00.0";
  health.adapters = {{full_adapter(), State::Ready, "agent", 3, now - std::chrono::seconds{5},
                      ApplicationGid{"192.168.30.201", "::ffff:192.168.30.201", 1, "RoCE v2"}, 2},
                     {unreadable_adapter(), State::Degraded, "nobody", 0, now, {}, 0},
                     {bare, State::Failed, "agent", 0, now, {}, 0}};
  health.findings = {
      {FindingId::DriverInUse,
       Severity::Warning,
       "0000:13:00.1",
       "held",
       "wait",
       Actor::Agent,
       {{"reason", "out of order"}},
       {{812, "ibv_asyncwatch", "rocep19s0f1"}}},
      {FindingId::MtuWaits, Severity::Info, std::nullopt, "so it is", "", Actor::Guest, {}, {}}};
  health.busy = CallUnderWay{LoadModule{"mlx4_ib"}, now - std::chrono::seconds{4}, true};
  health.reloads = 2;
  health.rebinds = 1;
  return health;
}

}  // namespace pvrdma::test
