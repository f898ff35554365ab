// Samples of the adapters. What is absent or could not be read gives none.
#include <array>
#include <optional>

#include "agent/tools/metrics/generators.hpp"
#include "probes/port_words.hpp"

namespace pvrdma::metrics {

namespace {

constexpr std::array kAdapterStates{State::Converging, State::Ready, State::Degraded,
                                    State::Failed};
constexpr const char* kPort = "1";  // an adapter has one

using Value = std::optional<double>;

// A sample for each adapter that has a value.
template <typename ValueOf>
Samples of_each(const Observation& observation, Labels (*labels)(const Adapter& adapter),
                ValueOf value_of) {
  Samples samples;
  if (observation.health == nullptr) return samples;
  for (const AdapterHealth& health : observation.health->adapters)
    if (const Value value = value_of(health)) samples.push_back({labels(health.adapter), *value});
  return samples;
}

// The one label that stays while drivers come and go.
Labels function_labels(const Adapter& adapter) { return {{"function", adapter.function}}; }

Labels link_labels(const Adapter& adapter) {
  return {{"function", adapter.function}, {"netdev", adapter.netdev.get()->name}};
}

Labels port_labels(const Adapter& adapter) {
  return {{"device", adapter.rdma.get()->name}, {"port", kPort}, {"function", adapter.function}};
}

// The same, of what is known of its interface, or of its port.
template <typename ValueOf>
Samples of_each_link(const Observation& observation, ValueOf value_of) {
  return of_each(observation, link_labels, [&](const AdapterHealth& health) {
    const Netdev* netdev = health.adapter.netdev.get();
    return netdev == nullptr ? Value{} : value_of(*netdev);
  });
}

template <typename ValueOf>
Samples of_each_port(const Observation& observation, ValueOf value_of) {
  return of_each(observation, port_labels, [&](const AdapterHealth& health) {
    const RdmaDevice* rdma = health.adapter.rdma.get();
    return rdma == nullptr ? Value{} : value_of(rdma->port);
  });
}

template <typename T>
Value value(const Field<T>& field) {
  return field.is_known() ? Value{static_cast<double>(*field.get())} : Value{};
}

// The kernel's number for a word of a port's; none: not known, or a number that has no word.
Value number_of(const Field<std::string>& word, std::string (*word_of)(unsigned number)) {
  constexpr unsigned kWordsAtMost = 8;
  for (unsigned number = 0; number < kWordsAtMost; ++number)
    if (word.is(word_of(number))) return number;
  return {};
}

Labels info_labels(const AdapterHealth& health) {
  const RdmaDevice* rdma = health.adapter.rdma.get();
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

}  // namespace

Samples adapter_info(const Observation& observation) {
  Samples samples;
  if (observation.health == nullptr) return samples;
  for (const AdapterHealth& health : observation.health->adapters)
    samples.push_back({info_labels(health), 1});
  return samples;
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

Samples gid_moves(const Observation& observation) {
  return of_each(observation, function_labels, [](const AdapterHealth& health) {
    return Value{static_cast<double>(health.gid_moves)};
  });
}

Samples link_carrier(const Observation& observation) {
  return of_each_link(observation, [](const Netdev& netdev) { return value(netdev.carrier); });
}

Samples link_mtu(const Observation& observation) {
  // 0: the answer had none.
  return of_each_link(observation, [](const Netdev& netdev) {
    return netdev.mtu == 0 ? Value{} : Value{netdev.mtu};
  });
}

Samples link_up(const Observation& observation) {
  return of_each_link(observation,
                      [](const Netdev& netdev) { return Value{netdev.up ? 1.0 : 0.0}; });
}

Samples port_active_mtu(const Observation& observation) {
  return of_each_port(observation, [](const Port& port) { return value(port.active_mtu); });
}

Samples port_last_change(const Observation& observation) {
  return of_each(observation, function_labels, [&](const AdapterHealth& health) {
    return Value{timestamp(health.last_change, observation.now)};
  });
}

Samples port_physical_state(const Observation& observation) {
  return of_each_port(observation, [](const Port& port) {
    return number_of(port.phys_state, probes::phys_state_word);
  });
}

Samples port_state(const Observation& observation) {
  return of_each_port(
      observation, [](const Port& port) { return number_of(port.state, probes::port_state_word); });
}

Samples port_transitions(const Observation& observation) {
  return of_each(observation, function_labels, [](const AdapterHealth& health) {
    return Value{static_cast<double>(health.transitions)};
  });
}

}  // namespace pvrdma::metrics
