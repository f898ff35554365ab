// SPDX-License-Identifier: GPL-2.0-or-later
// Settings of modprobe.d that keep modules from being loaded, read by the installed program
// module-lookup; and commands of `install` that do, shared by its tests and the executor's.
#pragma once

#include <string>
#include <vector>

#include "probes/modprobe_config.hpp"
#include "tests/unit/places.hpp"

namespace pvrdma::test {

inline Field<std::vector<ModuleBlock>> blocks_of(
    const Root& root, const std::vector<std::string>& modules,
    probes::ModprobeOf which = probes::ModprobeOf::ThisBoot) {
  const auto config = probes::read_modprobe_config(places::module_lookup, root, which);
  std::vector<probes::WantedModule> wanted;
  for (const std::string& module : modules) wanted.push_back({module});
  return probes::find_module_blocks(config, probes::command_line_of(root), wanted);
}

struct InstallCommand {
  const char* text;
  bool loads_nothing;
};
inline constexpr InstallCommand kInstallCommands[] = {
    {"/bin/false", true},
    {"/bin/true", true},
    {"true", true},
    {":", true},
    {"\"/bin/true\"", true},
    {"/bin/false  --no", true},
    {"/usr/bin/false; true", true},
    {"/bin/true # not on this machine; see the wiki", true},
    {"/usr/bin/true", true},
    {"/bin/true || :", true},
    {"/bin/sh -c 'exit 1'", true},
    {"/usr/bin/logger -t hardening blocked; /bin/false", true},
    {"echo \"not here\" >&2; exit 1", true},
    {"/dev/null", true},
    {"/bin/sh -c '/sbin/modprobe -i pvrdma_test_module'", false},
    {"/bin/sh /usr/local/sbin/load", false},
    {"echo $(modprobe -i pvrdma_test_module)", false},
    {"true;modprobe -i pvrdma_test_module", false},
    {"true; modprobe -i pvrdma_test_module", false},
    {"/bin/true && modprobe -i pvrdma_test_module", false},
    {"/bin/false || modprobe -i pvrdma_test_module", false},
    {"modprobe -i pvrdma_test_module", false},
    {"/usr/local/bin/truely", false},
};

}  // namespace pvrdma::test
