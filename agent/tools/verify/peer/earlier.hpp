// SPDX-License-Identifier: GPL-2.0-or-later
// The results of earlier runs with a peer, in the user's own state folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::verify {

inline constexpr std::size_t kRunsKept = 20;    // for each peer
inline constexpr std::size_t kPeersKept = 256;  // the oldest ones are forgotten

// $XDG_STATE_HOME/pvrdma-agent/verify.json, or below ~/.local/state. Empty: the user has no home.
[[nodiscard]] std::filesystem::path state_file();

// The largest bandwidth of these runs; none: there was no run, or the file cannot be read.
[[nodiscard]] std::optional<double> best_earlier(const std::filesystem::path& file,
                                                 const std::string& peer);

// Adds a run. A file that is not in our form is begun anew.
[[nodiscard]] Result<void> remember(const std::filesystem::path& file, const std::string& peer,
                                    double bandwidth_mb_s, double latency_us);

}  // namespace pvrdma::verify
