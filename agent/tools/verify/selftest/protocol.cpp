// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/selftest/protocol.hpp"

#include <algorithm>
#include <array>

#include "agent/tools/verify/peer/figures.hpp"

namespace pvrdma::ctl::selftest {

namespace {

// The index is the number of Step.
constexpr std::array kSteps{
    StepWords{"find", "finding the device"},
    StepWords{"open", "opening the device"},
    StepWords{"port", "asking for port 1"},
    StepWords{"gid", "reading the GID"},
    StepWords{"pd", "allocating a protection domain"},
    StepWords{"memory", "registering memory"},
    StepWords{"channel", "creating a completion channel"},
    StepWords{"cq", "creating a completion queue"},
    StepWords{"qp", "creating queue pairs"},
    StepWords{"init", "bringing the queue pairs to INIT"},
    StepWords{"rtr", "bringing the queue pairs to RTR"},
    StepWords{"rts", "bringing the queue pairs to RTS"},
    StepWords{"message", "sending a message there and back"},
    StepWords{"rounds", "measuring the latency"},
    StepWords{"write", "writing by RDMA"},
    StepWords{"release", "releasing everything"},
};
static_assert(kSteps.size() == static_cast<std::size_t>(Step::Release) + 1);

}  // namespace

const StepWords& words_of(Step step) { return kSteps.at(static_cast<std::size_t>(step)); }

std::optional<Step> step_of(std::string_view id) {
  for (std::size_t at = 0; at < kSteps.size(); ++at)
    if (kSteps.at(at).id == id) return static_cast<Step>(at);
  return std::nullopt;
}

std::optional<Latency> latency_of(std::vector<Nanoseconds> times) {
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  return Latency{verify::rank(times, 500), verify::rank(times, 990), times.back()};
}

}  // namespace pvrdma::ctl::selftest
