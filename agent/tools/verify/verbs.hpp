// SPDX-License-Identifier: GPL-2.0-or-later
// What both helper programs do with verbs: memory that can be registered, an RC queue pair on its
// way to RTS, and work for it. What returns an int returns an errno; 0: done.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "agent/base/handle.hpp"

namespace pvrdma::verify {

inline constexpr std::uint8_t kOnlyPort = 1;  // an adapter has one

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* pages) const noexcept;
};
// Private pages, so that they can be locked and nothing else shares them.
using Pages = std::unique_ptr<std::byte, Unmap>;
// Null: there is no memory for them, see errno.
[[nodiscard]] Pages map_pages(std::size_t bytes);

using QueuePair = Handle<ibv_qp, ibv_destroy_qp>;
// Reliable, with one queue for all completions. Null: see errno.
[[nodiscard]] QueuePair create_pair(ibv_pd* pd, ibv_cq* completions, std::uint32_t sends,
                                    std::uint32_t receives);

// Where a queue pair leads.
struct Route {
  ibv_mtu mtu = IBV_MTU_256;
  ibv_gid gid{};  // of the other end
  std::uint16_t lid = 0;
  int gid_index = 0;  // of this end
  std::uint8_t hop_limit = 1;
  std::uint32_t qpn = 0, psn = 0;  // the other end's queue pair, and its first packet's number
};

[[nodiscard]] int to_init(ibv_qp* pair, int access);
[[nodiscard]] int to_rtr(ibv_qp* pair, const Route& route);
// `psn`: of the first packet. `rnr_retry`: how often a peer without a receive is tried again; 7:
// without end.
[[nodiscard]] int to_rts(ibv_qp* pair, std::uint32_t psn, std::uint8_t rnr_retry);

// `at` lies in the region.
[[nodiscard]] ibv_sge piece(const ibv_mr& region, const std::byte* at, std::size_t bytes);
// With a completion of this id. `request` says what is done with `what`, and where to.
[[nodiscard]] int post(ibv_qp* pair, ibv_send_wr request, std::uint64_t id, ibv_sge what);
[[nodiscard]] int post_send(ibv_qp* pair, std::uint64_t id, ibv_sge what);
[[nodiscard]] int post_receive(ibv_qp* pair, std::uint64_t id, ibv_sge where);

}  // namespace pvrdma::verify
