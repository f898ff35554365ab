// SPDX-License-Identifier: GPL-2.0-or-later
// Words to the service manager (sd_notify(3)). It reads them as lines NAME=VALUE, so a line end in
// a value would begin an assignment of its own (STOPPING=1): nothing else sends to it.
#pragma once

#include <string_view>

namespace pvrdma {

// Sends one assignment, its value made printable and cut to one line of a screen's width or two.
// Never waits, as sd_notify(3) does where the manager is behind: what it does not take now is sent
// before the next assignment, the newest of each name. For one thread of a program.
void notify(std::string_view name, std::string_view value);

}  // namespace pvrdma
