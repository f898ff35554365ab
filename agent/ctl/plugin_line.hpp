// What a monitor of the Nagios family (Icinga, Naemon, Checkmk's MRPE) wants of a check: one line
// of text, then "|" and numbers to draw ("Nagios Plugins Development Guidelines",
// monitoring-plugins.org).
#pragma once

#include <string>

#include "agent/base/clock.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::ctl {

// "PVRDMA OK - 2 of 2 adapters ready | adapters=2;;;0 ready=2;2:;1:;0;2 reloads=0c …", with a
// newline.
[[nodiscard]] std::string plugin_line(const Health& health, BootTime now);

// The same where nobody answered: status 3, unknown.
[[nodiscard]] std::string plugin_line(const std::string& why);

}  // namespace pvrdma::ctl
