// SPDX-License-Identifier: GPL-2.0-or-later
#define FMT_HEADER_ONLY
#include "agent/base/format.hpp"

#include <fmt/format.h>

namespace pvrdma {

std::string formatted_with(fmt::string_view format, fmt::format_args arguments) {
  return fmt::vformat(format, arguments);
}

}  // namespace pvrdma
