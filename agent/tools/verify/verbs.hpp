// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by both helper programs: memory that can be registered, bringing an RC queue pair to RTS,
// and posting work. A function that returns an int returns an errno; 0: done.
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
// Private pages: they can be locked, and share a page with nothing else.
using Pages = std::unique_ptr<std::byte, Unmap>;
// Null: no memory; errno tells why.
[[nodiscard]] Pages map_pages(std::size_t bytes);

using QueuePair = Handle<ibv_qp, ibv_destroy_qp>;
// A reliable queue pair with one queue for all completions. Null: errno tells why.
[[nodiscard]] QueuePair create_pair(ibv_pd* pd, ibv_cq* completions, std::uint32_t sends,
                                    std::uint32_t receives);

// The route from one queue pair to another.
struct Route {
  ibv_mtu mtu = IBV_MTU_256;
  ibv_gid gid{};  // GID of the other end
  std::uint16_t lid = 0;
  int gid_index = 0;  // index of this end's GID
  std::uint8_t hop_limit = 1;
  std::uint32_t qpn = 0, psn = 0;  // the other end's queue pair, and the number of its first packet
};

[[nodiscard]] int to_init(ibv_qp* pair, int access);
[[nodiscard]] int to_rtr(ibv_qp* pair, const Route& route);
// `psn`: the number of the first packet. `rnr_retry`: how often a peer without a receive is tried
// again; 7: without end.
[[nodiscard]] int to_rts(ibv_qp* pair, std::uint32_t psn, std::uint8_t rnr_retry);

// `at` has to lie in the region.
[[nodiscard]] ibv_sge piece(const ibv_mr& region, const std::byte* at, std::size_t bytes);
// The completion has this id. `request` says what to do with `what`, and where it goes.
[[nodiscard]] int post(ibv_qp* pair, ibv_send_wr request, std::uint64_t id, ibv_sge what);
[[nodiscard]] int post_send(ibv_qp* pair, std::uint64_t id, ibv_sge what);
[[nodiscard]] int post_receive(ibv_qp* pair, std::uint64_t id, ibv_sge where);

}  // namespace pvrdma::verify
