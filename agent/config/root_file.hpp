// SPDX-License-Identifier: GPL-2.0-or-later
// Files that both the daemon and the executor trust: regular files that only root can have written,
// in folders that only root can write, with no link on the way (kTrusted of
// agent/base/rooted_path.hpp). For any other file the error says how to mend it, and shows none of
// its content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma {

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

}  // namespace pvrdma
