// SPDX-License-Identifier: GPL-2.0-or-later
// A machine with an adapter and a made-up helper program, on which `verify` is run as a command.
#pragma once

#include <algorithm>
#include <string>

#include "agent/tools/verify/commands.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/probes/tree.hpp"

namespace pvrdma::test {

inline constexpr const char* kFigures =
    R"("data_whole": true, "latency": [{"message_bytes": 2, "rounds": 100, "min_us": 3, "typical_us": 4,
    "average_us": 4.5, "p99_us": 9, "p999_us": 12}], "bandwidth": {"message_bytes": 1048576,
    "out_mb_s": 9000, "in_mb_s": 5000, "both_mb_s": 12000}, "messages_per_s": 1000000,
    "tcp": {"latency_us": 30, "bandwidth_mb_s": 5000}, "peer_address": "192.168.30.2")";

struct VerifyMachine {
  Tree tree;
  ctl::VerifyOptions options;
  int code = 0;
  std::string out, err;

  VerifyMachine() {
    bound_adapter(tree, "13:00", "ens19f0", "rocep19s0f1", "uverbs0");
    tree.link("/sys/class/infiniband/rocep19s0f1",
              "../../bus/pci/devices/0000:13:00.1/infiniband/rocep19s0f1");
    tree.file("/sys/module/vmw_pvrdma/refcnt", "0\n");
    options.root = tree.root();
    options.program = tree / "/helper";
    options.state_file = tree / "/state/verify.json";
  }
  // Sets the helper program's answer, in one line.
  void answers(std::string answer) const {
    std::replace(answer.begin(), answer.end(), '\n', ' ');
    tree.program("/helper", "echo '{" + answer + "}'");
  }
  void run(bool mesh = false) {
    fake::Screen screen;
    const ctl::Settings settings;
    code = mesh ? ctl::verify_mesh(settings, screen.console, options)
                : ctl::verify_peer(settings, screen.console, options);
    out = screen.out();
    err = screen.err();
  }
  [[nodiscard]] bool shows(const char* text) const { return out.find(text) != std::string::npos; }
};

}  // namespace pvrdma::test
