// SPDX-License-Identifier: GPL-2.0-or-later
// Files that both the daemon and the executor believe: regular files that root alone can have
// written, in folders of which the same is true, and no link on the way (kTrusted of
// agent/base/rooted_path.hpp). What does not qualify yields a complaint that says what to do about
// it, and nothing of its content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma {

// Of a file, and of what vSphere has, in bytes. A whole configuration has some hundred.
inline constexpr std::size_t kConfigLimitBytes = 64U << 10U;
inline constexpr const char* kTooLarge = "is larger than 64 KiB";

// An Error's message() is a whole line: "/etc/x/y.toml: /etc/x belongs to uid 7, not to root, …".

// Whether there is anything of that name, were it a dangling link.
[[nodiscard]] Result<bool> root_has(const RootedPath& place);

// The names in a folder, sorted; none where there is no such folder.
[[nodiscard]] Result<std::vector<std::string>> root_folder(const RootedPath& place);

// The content. None: it is masked by a link to /dev/null, as in systemd.unit(5).
[[nodiscard]] Result<std::optional<std::string>> root_file(
    const RootedPath& place, std::size_t limit_bytes = kConfigLimitBytes);

}  // namespace pvrdma
