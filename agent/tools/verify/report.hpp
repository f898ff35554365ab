// SPDX-License-Identifier: GPL-2.0-or-later
// What became of the self-test of one device: the helper program's lines as a value, whose move it
// is where it failed, and all of it as text and as JSON. Pure.
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
#include "agent/tools/verify/protocol.hpp"

namespace pvrdma::ctl::selftest {

struct StepFailure {
  std::optional<Step> step;  // none: before the first
  int code = 0;              // errno; 0: none
  int status = 0;            // enum ibv_wc_status; 0: none
  std::string what;
  friend bool operator==(const StepFailure&, const StepFailure&) = default;
};

struct RdmaWrite {
  bool proved = false;
  std::string why_not;  // how the device showed that it offers none
  friend bool operator==(const RdmaWrite&, const RdmaWrite&) = default;
};

struct Report {
  std::string device;      // or the PCI address of an adapter without one
  std::optional<Gid> gid;  // none: the device has none
  std::vector<Step> done;
  bool passed = false;
  std::optional<StepFailure> failure;          // of what did not pass
  std::optional<std::uint64_t> memlock_bytes;  // none: no limit, or not known
  std::optional<RdmaWrite> write;              // none: not tried
  std::optional<Latency> latency;              // of kRounds round trips
  std::vector<std::string> remarks;            // libibverbs' own words
  Milliseconds took{0};
};

// The lines, and how the program ended.
[[nodiscard]] Report report_of(const ProgramResult& run);

// Whether the program never came to its first line, for want of a shared library.
[[nodiscard]] bool lacks_libraries(const ProgramResult& run);

struct Advice {
  const char* who;  // "guest": this machine's administrator; "image": whoever made it or its
                    // container; "host": vSphere's administrator
  std::string remedy;
};

// For a report that has a failure.
[[nodiscard]] Advice advice_for(const Report& report);

// A line with the verdict, and what was seen, indented.
[[nodiscard]] std::string render(const Report& report, const Style& style);
[[nodiscard]] nlohmann::json to_json(const std::vector<Report>& reports);

}  // namespace pvrdma::ctl::selftest
