// SPDX-License-Identifier: GPL-2.0-or-later
// Runs `doctor` on a made-up system, with an agent or without one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agent/codec/json.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/doctor/command.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/probes/tree.hpp"

namespace pvrdma::test {

using ctl::Json;

struct Diagnosed {
  int code = 0;
  std::string out, err;
  [[nodiscard]] Json json() const { return Json::parse(out); }
  [[nodiscard]] bool has(const std::string& id) const {
    const Json answer = json();
    for (const Json& finding : answer["findings"])
      if (finding["id"] == id) return true;
    return false;
  }
};

inline Diagnosed diagnose(const Tree& tree, const std::string& socket, bool json = true,
                          bool host_admin = false) {
  fake::Screen screen;
  ctl::Settings settings = fake::settings(socket);
  settings.json = json;
  ctl::DoctorOptions options;
  options.host_admin = host_admin;
  options.root = tree.root();
  options.helpers.module_lookup = places::module_lookup;
  const int code = ctl::doctor(settings, screen.console, options);
  return {code, screen.out(), screen.err()};
}

// A healthy machine, but without live adapters: a made-up sysfs has no netlink.
inline void good_machine(const Tree& tree) {
  bound_adapter(tree, "13:00", "ens224f0", "rocep19s0f1", "uverbs0");
  tree.file("/usr/lib64/libibverbs.so.1", "IBVERBS_PRIVATE_34");
  tree.file("/usr/lib64/libibverbs/libvmw_pvrdma-rdmav34.so", "");
  tree.file("/etc/libibverbs.d/vmw_pvrdma.driver", "driver vmw_pvrdma\n");
  tree.link("/dev/infiniband/uverbs0", "/dev/null");
  tree.link("/dev/infiniband/rdma_cm", "/dev/null");
  tree.file("/proc/self/status", "CapEff:\tffffffffffffffff\n");
  tree.file("/proc/modules", "");
  tree.file("/proc/sys/kernel/tainted", "0\n");
  tree.file("/etc/os-release", "ID=rhel\nVERSION_ID=9.4\n");
  tree.file("/etc/security/limits.d/90-rdma.conf", "* - memlock unlimited\n");
}

inline fake::Agent::Handlers with_health(const Json& health) {
  return {{"GetHealth", fake::answers({{"health", health}})}};
}

}  // namespace pvrdma::test
