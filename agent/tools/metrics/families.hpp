// SPDX-License-Identifier: GPL-2.0-or-later
// The families of metrics, from which every rendering is made: the families of the machine and the
// agent (machine_families.cpp), and those of the adapters (adapter_families.cpp). Pure.
//
// A field that could not be read has no sample and counts in pvrdma_unreadable_fields; so a 0 was
// always seen. The labels `device` and `port` are those of node_exporter's node_infiniband_*, so
// that both can be joined.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::metrics {

enum class Type { Gauge, Counter };

// Prometheus takes an empty value as a missing label.
using Labels = std::vector<std::pair<const char*, std::string>>;

struct Sample {
  Labels labels;
  double value = 0;
};
using Samples = std::vector<Sample>;

struct Observation {
  const Health* health = nullptr;  // null: the agent gave no answer
  const Timeline* boot = nullptr;  // null: the boot's steps are not known
  Moment now;                      // when the agent answered, or failed to
  std::string version;             // of this program
};

struct Family {
  const char* name;
  const char* description;  // one line without a backslash
  Type type;
  Samples (*generate)(const Observation& observation);
};

// All families, sorted by name.
[[nodiscard]] std::span<const Family> families();
[[nodiscard]] std::span<const Family> adapter_families();

// Seconds since 1970, rounded down: the agent's interface has no finer times, and an unchanged time
// then is the same number in each rendering.
[[nodiscard]] double timestamp(BootTime time, const Moment& now);

}  // namespace pvrdma::metrics
