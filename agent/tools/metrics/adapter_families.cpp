// SPDX-License-Identifier: GPL-2.0-or-later
// The families of the adapters. A field that is absent or unreadable gives no sample.
#include <array>
#include <optional>

#include "agent/tools/metrics/families.hpp"

namespace pvrdma::metrics {

namespace {

constexpr std::array kAdapterStates{State::Converging, State::Ready, State::Degraded,
                                    State::Failed};
constexpr const char* kPort = "1";  // an adapter has one

using Value = std::optional<double>;

// One sample for each adapter that has a value.
template <typename ValueOf>
Samples of_each(const Observation& observation, Labels (*labels)(const AdapterHealth& health),
                ValueOf value_of) {
  Samples samples;
  if (observation.health == nullptr) return samples;
  for (const AdapterHealth& health : observation.health->adapters)
    if (const Value value = value_of(health)) samples.push_back({labels(health), *value});
  return samples;
}

// The function is the only label that stays the same when drivers come and go.
Labels function_labels(const AdapterHealth& health) {
  return {{"function", health.adapter.function}};
}

Labels link_labels(const AdapterHealth& health) {
  return {{"function", health.adapter.function}, {"netdev", health.adapter.netdev.get()->name}};
}

Labels port_labels(const AdapterHealth& health) {
  return {{"device", health.adapter.rdma_device.get()->name},
          {"port", kPort},
          {"function", health.adapter.function}};
}

// As of_each(), with the value of the adapter's netdev, or of its port.
template <typename ValueOf>
Samples of_each_link(const Observation& observation, ValueOf value_of) {
  return of_each(observation, link_labels, [&](const AdapterHealth& health) {
    const Netdev* netdev = health.adapter.netdev.get();
    return netdev == nullptr ? Value{} : Value{value_of(*netdev)};
  });
}

template <typename ValueOf>
Samples of_each_port(const Observation& observation, ValueOf value_of) {
  return of_each(observation, port_labels, [&](const AdapterHealth& health) {
    const RdmaDevice* rdma = health.adapter.rdma_device.get();
    return rdma == nullptr ? Value{} : Value{value_of(rdma->port)};
  });
}

template <typename T>
Value value(const Field<T>& field) {
  return field.is_known() ? Value{static_cast<double>(*field.get())} : Value{};
}

// The kernel's number of a state; none: it is not known, or the help text does not name it.
template <numbered Enum>
Value number_of(const Field<Enum>& field) {
  if (!field.is_known() || word_of(*field.get()) == nullptr) return {};
  return static_cast<unsigned>(*field.get());
}

Labels info_labels(const AdapterHealth& health) {
  const RdmaDevice* rdma = health.adapter.rdma_device.get();
  const Netdev* netdev = health.adapter.netdev.get();
  return {{"device", rdma == nullptr ? "" : rdma->name},
          {"port", rdma == nullptr ? "" : kPort},
          {"function", health.adapter.function},
          {"net_function", health.adapter.net_function},
          {"netdev", netdev == nullptr ? "" : netdev->name},
          {"mac", netdev == nullptr ? "" : netdev->mac},
          {"driver", health.adapter.driver.value_or("")},
          {"managed_by", health.managed_by}};
}

Samples adapter_info(const Observation& observation) {
  return of_each(observation, info_labels, [](const AdapterHealth&) { return 1; });
}

Samples adapter_state(const Observation& observation) {
  Samples samples;
  if (observation.health == nullptr) return samples;
  for (const AdapterHealth& health : observation.health->adapters)
    for (const State state : kAdapterStates)
      samples.push_back({{{"function", health.adapter.function}, {"state", to_string(state)}},
                         health.state == state ? 1.0 : 0.0});
  return samples;
}

Samples counted(const Observation& observation, std::uint64_t AdapterHealth::*count) {
  return of_each(observation, function_labels,
                 [&](const AdapterHealth& health) { return static_cast<double>(health.*count); });
}

Samples link_carrier(const Observation& observation) {
  return of_each_link(observation, [](const Netdev& netdev) { return value(netdev.carrier); });
}

Samples link_mtu(const Observation& observation) {
  // The MTU is 0 where the kernel's answer had none.
  return of_each_link(observation, [](const Netdev& netdev) {
    return netdev.mtu == 0 ? Value{} : Value{netdev.mtu};
  });
}

Samples link_up(const Observation& observation) {
  return of_each_link(observation, [](const Netdev& netdev) { return netdev.link_up ? 1.0 : 0.0; });
}

Samples port_active_mtu(const Observation& observation) {
  return of_each_port(observation, [](const Port& port) { return value(port.active_mtu); });
}

Samples port_last_change(const Observation& observation) {
  return of_each(observation, function_labels, [&](const AdapterHealth& health) {
    return timestamp(health.last_change, observation.now);
  });
}

Samples port_physical_state(const Observation& observation) {
  return of_each_port(observation, [](const Port& port) { return number_of(port.phys_state); });
}

Samples port_state(const Observation& observation) {
  return of_each_port(observation, [](const Port& port) { return number_of(port.state); });
}

constexpr Family kAdapterFamilies[]{
    {"pvrdma_adapter_info", "What an adapter is, in its labels; always 1.", Type::Gauge,
     adapter_info},
    {"pvrdma_adapter_state", "State of an adapter: 1 for the one it is in, 0 for the others.",
     Type::Gauge, adapter_state},
    {"pvrdma_gid_moves_total", "GIDs seen at another index than before, since the agent started.",
     Type::Counter,
     [](const Observation& seen) { return counted(seen, &AdapterHealth::gid_moves); }},
    {"pvrdma_link_carrier",
     "Whether the adapter's interface has a carrier; absent while it is down.", Type::Gauge,
     link_carrier},
    {"pvrdma_link_mtu_bytes", "MTU of the adapter's interface.", Type::Gauge, link_mtu},
    {"pvrdma_link_up", "Whether the adapter's interface is administratively up.", Type::Gauge,
     link_up},
    {"pvrdma_port_active_mtu_bytes", "Active MTU of the RDMA port.", Type::Gauge, port_active_mtu},
    {"pvrdma_port_last_change_timestamp_seconds",
     "When the port's state changed last, or the adapter was first seen.", Type::Gauge,
     port_last_change},
    {"pvrdma_port_physical_state_id",
     "Physical state of the port (0: no change, 1: sleep, 2: polling, 3: disabled, 4: "
     "training, 5: link up, 6: link error recovery, 7: phy test).",
     Type::Gauge, port_physical_state},
    {"pvrdma_port_state_id",
     "State of the port (0: no change, 1: down, 2: init, 3: armed, 4: active, 5: act defer).",
     Type::Gauge, port_state},
    {"pvrdma_port_transitions_total", "Changes of the port's state seen since the agent started.",
     Type::Counter,
     [](const Observation& seen) { return counted(seen, &AdapterHealth::transitions); }},
};

}  // namespace

std::span<const Family> adapter_families() { return kAdapterFamilies; }

}  // namespace pvrdma::metrics
