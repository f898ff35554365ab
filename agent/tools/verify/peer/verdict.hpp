// SPDX-License-Identifier: GPL-2.0-or-later
// The figures measured with a peer, and their meaning. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/ctl/text.hpp"
#include "agent/tools/verify/peer/expectation.hpp"
#include "agent/tools/verify/peer/path.hpp"

namespace pvrdma::verify {

struct LatencyRow {
  double bytes = 0, min_us = 0, typical_us = 0, average_us = 0, p99_us = 0, p999_us = 0;
};

// The answer of the helper program.
struct Figures {
  std::string peer_address;
  std::vector<LatencyRow> latency;
  double message_bytes = 0, out_mb_s = 0, in_mb_s = 0, both_mb_s = 0;
  double messages_per_s = 0;
  double tcp_latency_us = 0, tcp_bandwidth_mb_s = 0;
};
// EBADMSG: a figure is missing.
[[nodiscard]] Result<Figures> figures_from(const nlohmann::json& answer);

// Turns the peer's figures into an answer of our own helper: out and in change places, and nothing
// else that the peer sent is in it. EBADMSG: a figure is missing.
[[nodiscard]] Result<nlohmann::json> seen_from_here(const nlohmann::json& told,
                                                    const std::string& peer_address);

struct Verdict {
  std::string peer, device;
  Figures figures;
  PathVerdict path;
  std::vector<std::string> unmet;
  bool expected = false;                 // the user gave an expectation
  std::optional<double> reference_mb_s;  // the rate that 100% stands for
};

// What is known of a pair before it is measured.
struct Known {
  std::optional<double> line_rate_mb_s;     // 100 % is this rate,
  std::optional<double> best_earlier_mb_s;  // else the best of the earlier runs with this peer
  Hosts hosts{};
};

[[nodiscard]] Verdict judge(std::string peer, std::string device, Figures figures,
                            const std::optional<Expectation>& expected, const Known& known);

// 0: all is good; 1: the path is TCP; 2: an expectation is not met.
[[nodiscard]] int exit_code(const Verdict& verdict);

[[nodiscard]] std::string render(const Verdict& verdict, const ctl::Style& style);
// Contains the helper program's answer unchanged.
[[nodiscard]] nlohmann::json to_json(const Verdict& verdict, const nlohmann::json& answer);

}  // namespace pvrdma::verify
