// SPDX-License-Identifier: GPL-2.0-or-later
// Configuration files -> Config.
//
// First the first pvrdma-agent.toml of /etc/pvrdma-agent, /run/pvrdma-agent-config and
// /usr/lib/pvrdma-agent is read, then every pvrdma-agent.toml.d/*.toml of all three folders in the
// order of their file names; a name in several folders counts only from the first (as systemd's
// drop-ins, systemd.unit(5)). No file at all is a valid configuration. A later file replaces single
// keys, also those of [[adapter]] without match, which applies to every adapter. [[adapter]] tables
// with match add up, and each inherits unset keys from the one without match.
//
// The daemon and the executor use the same files, so only root may be able to write them
// (root_file() below).
//
// vSphere's configuration for this VM (guestinfo.pvrdma-agent.config, fetched by
// units/read-guestinfo) is read as the drop-in 50-guestinfo.toml below /run if the files say
// guestinfo.enabled = true. Every user of the machine can write it, so it may not set all keys. The
// files must be valid without it; it is left out where it is invalid together with them.
//
// An invalid file yields one line: file, line, key, value, and what is allowed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/config.hpp"

namespace pvrdma {

// Files that both the daemon and the executor trust: regular files that only root can have written,
// in folders that only root can write, with no link on the way (kTrusted of
// agent/base/rooted_path.hpp). For any other file the error says how to mend it, and shows none of
// its content.

// The largest file, and the largest configuration from vSphere, in bytes. A usual configuration has
// some hundred bytes.
inline constexpr std::size_t kConfigLimitBytes = 64U << 10U;
inline constexpr const char* kTooLarge = "is larger than 64 KiB";

// The message() of an Error is a whole line: "/etc/x/y.toml: /etc/x belongs to uid 7, not to root,
// …".

// Whether anything of that name exists, even a dangling link.
[[nodiscard]] Result<bool> root_has(const RootedPath& place);

// The names in a folder, sorted; empty where the folder does not exist.
[[nodiscard]] Result<std::vector<std::string>> root_folder(const RootedPath& place);

// The content. None: a link to /dev/null masks the file, as in systemd.unit(5).
[[nodiscard]] Result<std::optional<std::string>> root_file(
    const RootedPath& place, std::size_t limit_bytes = kConfigLimitBytes);

// The name of vSphere's configuration, in messages and among the files that were read.
inline constexpr const char* kGuestinfo = "guestinfo.pvrdma-agent.config";

struct LoadedConfig {
  Config config;
  std::vector<std::filesystem::path> files;  // the files that were read, in order
  std::string left_out;  // why vSphere's configuration is not used, one line; empty: it is used, or
                         // is not enabled
  // Why the files are invalid, one line, and then `config` is the safe subset; empty: they are
  // valid.
  std::string error;
};

// The message() of the Error is the whole line to print: "/etc/pvrdma-agent/pvrdma-agent.toml:3:
// modules.reload = \"sometimes\": must be one of auto, always, never". Its code is errno's where
// the kernel could not read a file, which may pass (EIO, ENOMEM); else 0.
[[nodiscard]] Result<LoadedConfig> load_config(const Root& root = Root{});

// The same for daemon and executor, which must go on where the files are invalid. They then use the
// safe subset, which disturbs nothing, whatever the files were meant to say: the default modules,
// no reload, no MTU, no address, and nothing is undone. Every link is as with manage = "auto", or
// as with "observe" where a readable file contains that word, as its rule may be for any link.
[[nodiscard]] LoadedConfig load_config_or_safe(const Root& root = Root{});

}  // namespace pvrdma
