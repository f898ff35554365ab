// SPDX-License-Identifier: GPL-2.0-or-later
// The families of metrics, of which every rendering is made: those of the machine and the agent
// (machine_families.cpp), and those of the adapters (adapter_families.cpp). Pure.
//
// What could not be read has no sample and is counted in pvrdma_unreadable_fields; a 0 is always
// something that was seen. Labels `device` and `port` are those of node_exporter's
// node_infiniband_*, so that both can be joined.
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

// An empty value is the same as no such label.
using Labels = std::vector<std::pair<const char*, std::string>>;

struct Sample {
  Labels labels;
  double value = 0;
};
using Samples = std::vector<Sample>;

struct Observation {
  const Health* health = nullptr;  // null: the agent gave no answer
  const Timeline* boot = nullptr;  // null: its steps are not known
  Moment now;                      // when it did, or did not
  std::string version;             // of this program
};

struct Family {
  const char* name;
  const char* description;  // one line without a backslash
  Type type;
  Samples (*generate)(const Observation& observation);
};

// All, by name, ascending.
[[nodiscard]] std::span<const Family> families();
[[nodiscard]] std::span<const Family> adapter_families();

// Since 1970, the second that has begun: what the agent's interface has is no finer, and so a time
// that has not changed is the same number in each rendering.
[[nodiscard]] double timestamp(BootTime time, const Moment& now);

}  // namespace pvrdma::metrics
