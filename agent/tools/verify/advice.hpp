// Whose move it is after a self-test that failed, and what to do. Pure.
#pragma once

#include <string>

#include "agent/tools/verify/report.hpp"

namespace pvrdma::ctl::selftest {

struct Advice {
  const char* who;  // "guest": this machine's administrator; "image": whoever made it or its
                    // container; "host": vSphere's administrator
  std::string remedy;
};

// For a report that has a failure.
[[nodiscard]] Advice advice_for(const Report& report);

}  // namespace pvrdma::ctl::selftest
