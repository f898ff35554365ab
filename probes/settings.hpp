// SPDX-License-Identifier: GPL-2.0-or-later
// Files with "[Section]" and "Key=value" lines: of systemd (systemd.syntax(7)) and keyfiles of
// NetworkManager. Also folders of drop-ins that replace each other by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"

namespace pvrdma::probes {

struct Setting {
  std::string section, key, value;
  unsigned line = 0;
  friend bool operator==(const Setting&, const Setting&) = default;
};

// The settings without comments; lines that end with a backslash are joined. A key without a
// section has an empty one. A section's name is cut to 256 bytes.
[[nodiscard]] std::vector<Setting> parse_settings(std::string_view text);

// The files with that suffix in `folders`, sorted by name; of equal names that in the first folder.
// A link to /dev/null hides later files of its name. Errors: an existing folder cannot be listed.
[[nodiscard]] Result<std::vector<std::string>> merged_files(const Root& root,
                                                            const std::vector<std::string>& folders,
                                                            std::string_view suffix);

// Whether a path below the root is a link to /dev/null, or an empty file, which for systemd means
// that the file must be ignored.
[[nodiscard]] bool is_hidden(const Root& root, const std::string& path);

}  // namespace pvrdma::probes
