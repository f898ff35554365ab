// SPDX-License-Identifier: GPL-2.0-or-later
// What two machines of a mesh found.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::verify {

struct Machine {
  std::string name;     // its host name
  std::string address;  // of its adapter's interface; no two machines have the same
  std::string device;
};
[[nodiscard]] nlohmann::json to_json(const Machine& machine);

struct PairFigures {
  double latency_us = 0, p99_us = 0;  // of the smallest message
  double out_mb_s = 0, in_mb_s = 0, both_mb_s = 0;
  double messages_per_s = 0;
  double tcp_latency_us = 0, tcp_bandwidth_mb_s = 0;
  std::optional<double> mtu_bytes;  // of the path; none: not measured

  [[nodiscard]] double slower_way_mb_s() const { return out_mb_s < in_mb_s ? out_mb_s : in_mb_s; }
};

struct PairResult {
  std::string from, to;  // addresses; `from` measured, `to` listened
  std::optional<PairFigures> figures;
  std::string failed;  // why there are none
};

[[nodiscard]] nlohmann::json to_json(const PairFigures& figures);
[[nodiscard]] nlohmann::json to_json(const PairResult& result);
// EBADMSG: something is missing.
[[nodiscard]] Result<PairFigures> pair_figures_from(const nlohmann::json& object);
[[nodiscard]] Result<PairResult> pair_result_from(const nlohmann::json& object);

}  // namespace pvrdma::verify
