// SPDX-License-Identifier: GPL-2.0-or-later
// Roots for `doctor --next-boot`, captured and made up, and the answers about them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/tools/next_boot/command.hpp"
#include "tests/unit/captured.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/module_index.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/probes/tree.hpp"

namespace pvrdma::test {

using Json = nlohmann::json;
using List = std::vector<std::string>;

inline constexpr const char* kOurs =
    "softdep vmw_pvrdma pre: pvrdma_agent_before\n"
    "install pvrdma_agent_before /sbin/modprobe -b -q -a vmxnet3 mlx4_ib "
    "ib_umad rdma_cm rdma_ucm\nremove pvrdma_agent_before /bin/true\n";

struct Seen {
  int code = 0;
  std::string out, err;
};
inline Seen look(const Tree& tree, bool json, const List& units = {}) {
  fake::Screen screen;
  ctl::Settings settings;
  settings.json = json;
  const int code = ctl::next_boot(
      settings, screen.console,
      {(tree.root() / "/").string(), units, places::module_lookup, places::initramfs_content});
  return {code, screen.out(), screen.err()};
}
inline Json answer(const Tree& tree, const List& units = {}) {
  return Json::parse(look(tree, true, units).out);
}

inline List ids(const Json& answer) {
  List list;
  for (const Json& finding : answer["findings"]) list.push_back(finding["id"].get<std::string>());
  return list;
}
// The row of that name: "yes all of modules.before are shipped".
inline std::string row(const Json& checks, const std::string& name) {
  for (const Json& check : checks)
    if (check["check"] == name)
      return check["outlook"].get<std::string>() + " " + check["says"].get<std::string>();
  return "none";
}
inline std::string kernel_row(const Json& answer, const std::string& name, std::size_t at = 0) {
  return row(answer["kernels"][at]["checks"], name);
}

inline void enable(const Tree& tree, const std::string& service) {
  tree.file("/usr/lib/systemd/system/" + service, "[Service]\nExecStart=/bin/true\n");
  tree.link("/etc/systemd/system/multi-user.target.wants/" + service,
            "/usr/lib/systemd/system/" + service);
}
// The files that the package installs.
inline void install_agent(const Tree& tree) {
  enable(tree, "pvrdma-agent.service");
  tree.file("/usr/lib/systemd/system/pvrdma-agent-executor.socket", "[Socket]\n");
  tree.file("/usr/lib/modprobe.d/pvrdma-agent.conf", kOurs);
}
// A recorded disk of the lab, with its links and images, and the package.
inline void captured(const Tree& tree, const std::string& name, const std::string& release) {
  unpack(std::string{places::fixtures} + "/next-boot/" + name + ".tar.xz", tree);
  tree.link("/lib", "usr/lib");
  complete_index(tree, "/usr/lib/modules/" + release);
  tree.file("/boot/vmlinuz-" + release, "");
  tree.link("/vmlinuz", "boot/vmlinuz-" + release);
  install_agent(tree);
}
inline void small_kernel(const Tree& tree, const std::string& release, const std::string& image) {
  module_index(tree, release);
  tree.file(image, "");
}

// A kernel with built-in modules only.
inline void without_modules(const Tree& tree, const std::string& release) {
  const std::string folder = "/lib/modules/" + release;
  std::filesystem::copy_file(tree / (folder + "/modules.builtin.bin"),
                             tree / (folder + "/modules.dep.bin"),
                             std::filesystem::copy_options::overwrite_existing);
}

}  // namespace pvrdma::test
