// SPDX-License-Identifier: GPL-2.0-or-later
// One RC queue pair to another machine's, and the memory that its messages come from and go to.
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
// Receives and sends outstanding at most.
inline constexpr std::uint32_t kReceives = 32;
inline constexpr std::uint32_t kSends = 16;

// What the other side has to know of a queue pair.
struct LinkName {
  std::string gid;  // 32 hexadecimal digits
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;
  int mtu = 0;  // enum ibv_mtu
};

struct Done {
  bool is_receive = false;
  std::uint32_t bytes = 0;  // of a receive
};

class Link {
 public:
  // Port 1, the GID of that index. The port must be ACTIVE.
  [[nodiscard]] static Result<Link> open(const std::string& device, int gid_index);

  [[nodiscard]] const LinkName& name() const { return name_; }
  // Ready to receive and to send. EINVAL: that is no queue pair's name.
  [[nodiscard]] Result<void> connect(const LinkName& peer);

  // Of the memory for outgoing and for incoming messages, kMessageAtMost each.
  [[nodiscard]] std::byte* out() const { return memory_.get(); }
  [[nodiscard]] std::byte* in() const { return memory_.get() + kMessageAtMost; }
  [[nodiscard]] Result<void> send(std::size_t offset, std::size_t bytes);
  [[nodiscard]] Result<void> receive(std::size_t offset, std::size_t bytes);
  // The next completion. Polls all the time, as programs do for whom latency counts. Now and then
  // it asks `control` how the other side is. ETIMEDOUT; 0: the work failed, here or there.
  [[nodiscard]] Result<Done> next(Control& control, BootTime deadline);

 private:
  Link() = default;

  // Released in the opposite order.
  Pages memory_;
  std::string device_;
  int gid_index_ = 0;
  LinkName name_;
  Handle<ibv_context, ibv_close_device> context_;
  Handle<ibv_pd, ibv_dealloc_pd> pd_;
  Handle<ibv_mr, ibv_dereg_mr> region_;
  Handle<ibv_cq, ibv_destroy_cq> completions_;
  QueuePair pair_;
};

}  // namespace pvrdma::verify
