// SPDX-License-Identifier: GPL-2.0-or-later
// An RC queue pair connected to another machine's, and the memory for its messages.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/tools/verify/peer/control.hpp"
#include "agent/tools/verify/verbs.hpp"

namespace pvrdma::verify {

inline constexpr std::size_t kMessageAtMost = std::size_t{1} << 20U;
// The largest numbers of outstanding receives and sends.
inline constexpr std::uint32_t kReceives = 32;
inline constexpr std::uint32_t kSends = 16;

// The data that the other side needs to connect to a queue pair.
struct PairName {
  std::string gid;  // 32 hexadecimal digits
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;
  int mtu = 0;               // enum ibv_mtu
  std::string mac{};         // of its netdev, as told; empty: not known
  Milliseconds duration{0};  // how long this side means to measure, as told; 0: not known
};

struct Done {
  bool is_receive = false;
  std::uint32_t bytes = 0;  // length of a receive
};

class Connection {
 public:
  // Uses port 1 and the GID with this index. The port must be ACTIVE.
  [[nodiscard]] static Result<Connection> open(const std::string& device, int gid_index);
  Connection(Connection&&) = default;
  Connection& operator=(Connection&&) = delete;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // Holds signals meanwhile: the kernel sends a command to the device for each object.
  ~Connection();

  [[nodiscard]] const PairName& name() const { return name_; }
  // Brings the queue pair to RTS. EINVAL: `peer` names no queue pair.
  [[nodiscard]] Result<void> connect(const PairName& peer);

  // The memory for outgoing and for incoming messages, kMessageAtMost bytes each.
  [[nodiscard]] std::byte* out() const { return memory_.get(); }
  [[nodiscard]] std::byte* in() const { return memory_.get() + kMessageAtMost; }
  [[nodiscard]] Result<void> send(std::size_t offset, std::size_t bytes);
  [[nodiscard]] Result<void> receive(std::size_t offset, std::size_t bytes);
  // Returns the next completion. Polls without pause, as programs do that need low latency, and
  // looks now and then at `control` for an end of the other side. ETIMEDOUT: the deadline passed;
  // 0: the work failed here or there.
  [[nodiscard]] Result<Done> next(Control& control, BootTime deadline);

 private:
  Connection() = default;

  // The destructor releases the verbs objects, in the opposite order.
  Pages memory_;
  std::string device_;
  int gid_index_ = 0;
  PairName name_;
  Handle<ibv_context, ibv_close_device> context_;
  Handle<ibv_pd, ibv_dealloc_pd> pd_;
  Handle<ibv_mr, ibv_dereg_mr> region_;
  Handle<ibv_cq, ibv_destroy_cq> completions_;
  QueuePair pair_;
};

}  // namespace pvrdma::verify
