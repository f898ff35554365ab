// SPDX-License-Identifier: GPL-2.0-or-later
// Files of "[Section]" and "Key=value" lines: systemd's (systemd.syntax(7)) and NetworkManager's
// keyfiles; and folders of drop-ins that replace each other by name.
#pragma once

#include <optional>
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

// Comments left out, lines that end with a backslash joined; a key without a section has an empty
// one. Of a section's name the first 256 bytes count.
[[nodiscard]] std::vector<Setting> parse_settings(std::string_view text);

// The last value of a key; null: there is none. An empty value resets what was before, as a list of
// systemd's does.
[[nodiscard]] const std::string* find_setting(const std::vector<Setting>& settings,
                                              std::string_view section, std::string_view key);

// A boolean of systemd's (systemd.syntax(7)): "yes", "Y", "on", "0"; none: it is no such word.
[[nodiscard]] std::optional<bool> boolean_from(std::string_view word);

// The files of that suffix in `folders`, by name; of one name that in the first folder. A link to
// /dev/null hides those of its name. Errors: a folder that is there may not be listed.
[[nodiscard]] Result<std::vector<std::string>> merged_files(const Root& root,
                                                            const std::vector<std::string>& folders,
                                                            std::string_view suffix);

// Whether a path below the root is a link to /dev/null, or an empty file: how systemd is told that
// something is not to be there.
[[nodiscard]] bool is_hidden(const Root& root, const std::string& path);

}  // namespace pvrdma::probes
