// SPDX-License-Identifier: GPL-2.0-or-later
// The cells in one line of an ESXi host's output, in each of its shapes. Pure. For host_paste.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pvrdma {

// Limits the columns of a block, so that the time for a hostile text grows only with its length.
inline constexpr std::size_t kMostColumns = 100;

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

using Cells = std::vector<std::string>;

// A line of dashes, which esxcli prints below the names of columns.
[[nodiscard]] bool is_rule(std::string_view line);
// The first byte of each group of dashes.
[[nodiscard]] std::vector<std::size_t> column_starts(std::string_view rule);
// The cells of a line, up to the last one with text. None: a cell reaches into the next column.
[[nodiscard]] std::optional<Cells> sliced(std::string_view line,
                                          const std::vector<std::size_t>& starts);
// As sliced(), or as many cells between tabs or two blanks as there are columns.
[[nodiscard]] std::optional<Cells> cells_of(std::string_view line,
                                            const std::vector<std::size_t>& starts);

// The columns of `esxcfg-nics -l`, which prints no dashes; empty: `line` does not name them.
[[nodiscard]] std::vector<std::size_t> nic_columns(std::string_view line);

// The fields of a line of CSV (RFC 4180); esxcli ends each line with a comma.
[[nodiscard]] Cells csv_cells(std::string_view line);
// True where all fields are names, which in esxcli's CSV are single words. So are some rows'.
[[nodiscard]] bool is_csv_header(std::string_view line);

// "Key: Value", as in details.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> key_and_value(
    std::string_view line);

// A row and the names of its columns.
struct PastedRow {
  Cells columns;
  Cells cells;
};

// Lines that mean a table's row without its header: what `grep pvrdma` leaves of the firewall's
// rule sets and rules, and the answers of `esxcfg-module -g` and `esxcfg-advcfg -g`.
[[nodiscard]] std::optional<PastedRow> row_in(std::string_view line);

}  // namespace pvrdma
