// SPDX-License-Identifier: GPL-2.0-or-later
// Assignments to the service manager (sd_notify(3)). It reads lines NAME=VALUE, so a line end in a
// value would begin another assignment (STOPPING=1). So all code sends by this function.
#pragma once

#include <string_view>

namespace pvrdma {

// Sends one assignment; the value is made printable and cut to 500 bytes. Never waits, unlike
// sd_notify(3) when the manager is busy: an assignment that it does not take now is sent before the
// next one, the newest of each name. Only one thread of a program may call it.
void notify(std::string_view name, std::string_view value);

}  // namespace pvrdma
