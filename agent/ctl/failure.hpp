// How a command says why it has no result: a line on `err`, or with --json one object on `out`.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

// {"error": {"message": …}}, and "id" and "remedy" where there are any. Returns `code`.
int end_without(const Settings& settings, const Console& console, const NoAnswer& why,
                int code = kExitUnknown);
int end_without(const Settings& settings, const Console& console, const std::string& why,
                int code = kExitUnknown);

}  // namespace pvrdma::ctl
