// SPDX-License-Identifier: GPL-2.0-or-later
// A paste as the ESXi shell printed it, without the marks of the programs it came through. Pure.
// For host_lines.cpp.
#pragma once

#include <string>
#include <string_view>

namespace pvrdma {

// UTF-16, which Windows PowerShell writes into files, as UTF-8 with "?" for other letters than
// ASCII's; without the mark of UTF-8, without a terminal's control sequences, with a blank for each
// no-break space of browsers and mail programs, and without the ">" of a mail that quotes it all.
// The lines keep their numbers.
[[nodiscard]] std::string as_printed(std::string_view text);

}  // namespace pvrdma
