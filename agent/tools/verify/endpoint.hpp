// The verbs objects of the self-test: one device, one buffer, and two RC queue pairs connected to
// each other. Part of the helper program, the only one of ours that holds a context for longer than
// a question: for the second that the test takes.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "agent/base/handle.hpp"
#include "agent/tools/verify/outcome.hpp"
#include "agent/tools/verify/protocol.hpp"

namespace pvrdma::ctl::selftest {

// The parts of the buffer, kMessageBytes each.
enum class Part : std::size_t { Out, In, Back, Target };
inline constexpr std::size_t kParts = 4;

// Of private pages, so that they can be locked and nothing else shares them.
class Buffer {
 public:
  Buffer();
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }  // null: no memory, see errno
  [[nodiscard]] static constexpr std::size_t size() { return kParts * kMessageBytes; }
  [[nodiscard]] std::byte* at(Part part) const {
    return data_ + static_cast<std::size_t>(part) * kMessageBytes;
  }

 private:
  std::byte* data_ = nullptr;
};

// Released in the opposite order, whatever happens; release() also says whether it worked.
struct Endpoint {
  using QueuePair = Handle<ibv_qp, ibv_destroy_qp>;
  Buffer buffer;
  Handle<ibv_context, ibv_close_device> context;
  Handle<ibv_pd, ibv_dealloc_pd> pd;
  Handle<ibv_mr, ibv_dereg_mr> region;
  Handle<ibv_comp_channel, ibv_destroy_comp_channel> channel;
  Handle<ibv_cq, ibv_destroy_cq> completions;
  std::array<QueuePair, 2> pairs;
};

// Told before each step is begun.
using Begin = std::function<void(Step)>;

// From finding the device to connected queue pairs, over port 1 and the GID of that index.
[[nodiscard]] Outcome<void> connect(Endpoint& endpoint, const char* device, int gid_index,
                                    const Begin& begin);
[[nodiscard]] Outcome<void> release(Endpoint& endpoint);

}  // namespace pvrdma::ctl::selftest
