// SPDX-License-Identifier: GPL-2.0-or-later
// The result of two machines of a mesh.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::verify {

struct Machine {
  std::string name;     // its host name
  std::string address;  // address of its adapter's netdev; no two machines share one
  std::string device;
  std::string mac{};  // of that netdev; empty: not known
};
[[nodiscard]] nlohmann::json to_json(const Machine& machine);

struct PairFigures {
  double latency_us = 0, p99_us = 0;  // for the smallest message
  double out_mb_s = 0, in_mb_s = 0, both_mb_s = 0;
  double messages_per_s = 0;
  double tcp_latency_us = 0, tcp_bandwidth_mb_s = 0;
  std::optional<double> mtu_bytes;  // the path's; none: not measured

  [[nodiscard]] double slower_way_mb_s() const { return out_mb_s < in_mb_s ? out_mb_s : in_mb_s; }
};

struct PairResult {
  std::string from, to;  // addresses; `from` measured, `to` listened
  std::optional<PairFigures> figures;
  std::string failed;  // the reason why there are no figures
};

[[nodiscard]] nlohmann::json to_json(const PairFigures& figures);
[[nodiscard]] nlohmann::json to_json(const PairResult& result);
// EBADMSG: a figure is missing.
[[nodiscard]] Result<PairFigures> pair_figures_from(const nlohmann::json& object);
[[nodiscard]] Result<PairResult> pair_result_from(const nlohmann::json& object);

}  // namespace pvrdma::verify
