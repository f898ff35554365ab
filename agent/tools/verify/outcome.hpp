// How the steps of the helper program report: what the device or the kernel answered.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace pvrdma::ctl::selftest {

struct Failure {
  int code = 0;      // errno; 0: none
  int status = 0;    // enum ibv_wc_status; 0: none
  std::string what;  // more than the step's name says; may be empty
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

[[nodiscard]] inline tl::unexpected<Failure> failure(int code, std::string what = {},
                                                     int status = 0) {
  return tl::unexpected<Failure>(Failure{code, status, std::move(what)});
}

}  // namespace pvrdma::ctl::selftest
