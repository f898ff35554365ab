// SPDX-License-Identifier: GPL-2.0-or-later
// Configuration files -> Config.
//
// The first pvrdma-agent.toml of FOLDERS (/etc/pvrdma-agent, /run/pvrdma-agent-config,
// /usr/lib/pvrdma-agent) counts, then every pvrdma-agent.toml.d/*.toml of all three in the order of
// their file names, a name found in several only from the first (as systemd's drop-ins,
// systemd.unit(5)). No file at all is a good configuration. A later file replaces single keys, also
// of [[adapter]] without match, which holds for every adapter; [[adapter]] tables with match add
// up, and each takes from the one without what it does not set itself.
//
// The daemon and the executor go by the same files, so only root may have written them
// (agent/config/root_file.hpp).
//
// What vSphere has for this VM (guestinfo.pvrdma-agent.config, fetched by units/read-guestinfo)
// counts as the drop-in 50-guestinfo.toml below /run where the files say guestinfo.enabled = true.
// Any user of the machine can write it, so it may not say everything. The files must be good by
// themselves; what vSphere has is left out where it is not good beside them.
//
// A file that is not right yields one line: file, line, key, the value, and what is allowed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/config.hpp"

namespace pvrdma {

// The name of what vSphere has, in messages and among the files that were read.
inline constexpr const char* kGuestinfo = "guestinfo.pvrdma-agent.config";

struct LoadedConfig {
  Config config;
  std::vector<std::filesystem::path> files;  // those that were read, in order
  std::string left_out;  // why what vSphere has does not count, a whole line; empty: it does,
                         // or is not meant to
  // Why the files do not count, a whole line; empty: they do. `config` is the safe subset then.
  std::string bad;
};

// An Error's message() is the whole line to print: "/etc/pvrdma-agent/pvrdma-agent.toml:3:
// modules.reload = \"sometimes\": must be one of auto, always, never".
[[nodiscard]] Result<LoadedConfig> load_config(const Root& root = Root{});

// The same for daemon and executor, which go on where the files are not good: by the safe subset,
// which takes nothing away whatever the files were meant to say. It has the default modules, no
// reload, no MTU and no address, nothing is undone, and every link is as with manage = "auto"; as
// with "observe" where a file that can be read has that word, as its rule may be for any link.
[[nodiscard]] LoadedConfig load_config_or_safe(const Root& root = Root{});

}  // namespace pvrdma
