// SPDX-License-Identifier: GPL-2.0-or-later
// The verbs objects of the self-test: one device, one buffer, and two RC queue pairs connected to
// each other. Part of the helper program. No other program of ours holds a verbs context for longer
// than one query; this one holds it for the second that the test takes.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "agent/base/handle.hpp"
#include "agent/tools/verify/selftest/protocol.hpp"
#include "agent/tools/verify/verbs.hpp"

namespace pvrdma::ctl::selftest {

// The answer of the device or the kernel to a failed step.
struct Failure {
  int code = 0;      // errno; 0: none
  int status = 0;    // enum ibv_wc_status; 0: none
  std::string what;  // more than the step's name tells; may be empty
};

template <typename T>
using Stepped = tl::expected<T, Failure>;

[[nodiscard]] inline tl::unexpected<Failure> failure(int code, std::string what = {},
                                                     int status = 0) {
  return tl::unexpected<Failure>(Failure{code, status, std::move(what)});
}

// The parts of the buffer, kMessageBytes each.
enum class Part : std::size_t { Out, In, Back, Target };
inline constexpr std::size_t kBufferBytes = 4 * kMessageBytes;

// The destructor releases what is left, in the opposite order, and holds signals meanwhile: the
// kernel sends a command to the device for each object. release() also reports whether that worked.
struct Endpoint {
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  Endpoint(Endpoint&&) = delete;
  Endpoint& operator=(Endpoint&&) = delete;
  ~Endpoint();

  verify::Pages buffer;
  Handle<ibv_context, ibv_close_device> context;
  Handle<ibv_pd, ibv_dealloc_pd> pd;
  Handle<ibv_mr, ibv_dereg_mr> region;
  Handle<ibv_comp_channel, ibv_destroy_comp_channel> channel;
  Handle<ibv_cq, ibv_destroy_cq> completions;
  std::array<verify::QueuePair, 2> pairs;

  [[nodiscard]] std::byte* at(Part part) const {
    return buffer.get() + static_cast<std::size_t>(part) * kMessageBytes;
  }
};

// Called before each step begins.
using Begin = std::function<void(Step)>;

// All steps from finding the device to connected queue pairs, over port 1 and the GID with this
// index.
[[nodiscard]] Stepped<void> connect(Endpoint& endpoint, const char* device, int gid_index,
                                    const Begin& begin);
[[nodiscard]] Stepped<void> release(Endpoint& endpoint);

}  // namespace pvrdma::ctl::selftest
