// SPDX-License-Identifier: GPL-2.0-or-later
// The result of the self-test of one device: the helper program's lines as a value, advice where it
// failed, and all of it as text and as JSON. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/program.hpp"
#include "agent/ctl/text.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/verify/selftest/protocol.hpp"

namespace pvrdma::ctl::selftest {

struct StepFailure {
  std::optional<Step> step;  // none: it failed before the first step
  int code = 0;              // errno; 0: none
  int status = 0;            // enum ibv_wc_status; 0: none
  std::string what;
  friend bool operator==(const StepFailure&, const StepFailure&) = default;
};

struct RdmaWrite {
  bool proved = false;
  std::string why_not;  // the reason why the device offers no RDMA write
  friend bool operator==(const RdmaWrite&, const RdmaWrite&) = default;
};

struct Report {
  std::string device;      // or the PCI address of an adapter without RDMA device
  std::optional<Gid> gid;  // none: the device has no GID
  std::vector<Step> done;
  bool passed = false;
  std::optional<StepFailure> failure;          // none: all passed
  std::optional<std::uint64_t> memlock_bytes;  // none: no limit, or not known
  std::optional<RdmaWrite> write;              // none: not tried
  std::optional<Latency> latency;              // for kRounds round trips
  std::vector<std::string> remarks;            // other lines, mostly libibverbs' own
  Milliseconds took{0};
};

// Reads the helper's lines, and how it ended.
[[nodiscard]] Report report_of(const ProgramResult& run);

// True where a missing shared library kept the program from starting.
[[nodiscard]] bool lacks_libraries(const ProgramResult& run);

struct Advice {
  const char* who;  // "guest": this machine's administrator; "image": the maker of the machine's or
                    // container's image; "host": vSphere's administrator
  std::string remedy;
};

// The report must have a failure.
[[nodiscard]] Advice advice_for(const Report& report);

// One line with the verdict, and the details below it, indented.
[[nodiscard]] std::string render(const Report& report, const Style& style);
[[nodiscard]] nlohmann::json to_json(const std::vector<Report>& reports);

}  // namespace pvrdma::ctl::selftest
