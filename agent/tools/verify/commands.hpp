// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of this tool: `selftest`, whether messages pass through a device; `verify`, whether
// RDMA works between this VM and another, by which path, and how fast; and `verify mesh`, the same
// for every pair of several machines.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/tools/survey/host_properties.hpp"
#include "agent/tools/verify/peer/expectation.hpp"

namespace pvrdma::ctl {

struct SelftestOptions {
  std::optional<std::string> device;  // as for verify::find_targets; none: every adapter
  Milliseconds timeout = std::chrono::seconds{10};  // for each device
  std::string program;                              // the helper's path
  Root root;
};

// 0: every device passed; 2: one failed; 3: nothing was tested.
int self_test(const Settings& settings, const Console& console, const SelftestOptions& options);

// `verify mesh`: several machines, and every pair of them.
struct MeshOptions {
  std::string rendezvous;  // HOST:PORT; empty: two machines only
  std::size_t size = 0;    // number of machines in the mesh
  bool full = true;        // every pair; else the pairs of two rounds
  std::string folder;      // for the results; empty: none
  bool resume = false;     // continues with the results in `folder`

  [[nodiscard]] bool is_given() const {
    return !rendezvous.empty() || size > 0 || !full || !folder.empty() || resume;
  }
};

struct VerifyOptions {
  std::string peer;  // address or name; empty: listen
  bool listen = false;
  std::optional<std::string> device;  // as for verify::find_targets; none: the first usable
  int port = 18600;
  std::string token_file;  // empty: no token
  Milliseconds wait = std::chrono::minutes{1};
  Milliseconds duration{0};  // zero: ten seconds; for a pair of a mesh three
  std::optional<verify::Expectation> expected;
  std::optional<double> line_rate_mb_s;
  std::string host_properties;  // file with what the hosts printed, or "-"; empty: none
  bool allow_in_use = false;    // measures although a process holds the adapter
  MeshOptions mesh;
  std::string program;  // the helper's path
  // The helper program keeps its own time limit; this grace is for a helper that hangs.
  Milliseconds helper_grace = std::chrono::minutes{3};
  std::filesystem::path state_file;  // of earlier runs; empty: nothing is kept
  Root root;
};

// 0: messages pass; 1: they pass over TCP; 2: they do not pass, or not as expected; 3: nothing was
// measured. A listener ends with the same code, as the peer tells it the figures.
int verify_peer(const Settings& settings, const Console& console, VerifyOptions options);

// Exit codes of the coordinator: 0: all pairs are good; 1: some stand out, or go over TCP; 2: some
// failed; 3: nothing was measured, or the results could not be written. Of other machines: 0, or 3
// where the machine could not take part.
int verify_mesh(const Settings& settings, const Console& console, const VerifyOptions& options);

// For both: what the user pasted of the hosts; empty without --host-properties.
[[nodiscard]] Result<std::vector<AdapterProperties>> read_properties(const VerifyOptions& options,
                                                                     const Console& console);

}  // namespace pvrdma::ctl
