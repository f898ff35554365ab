// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/verbs.hpp"

#include <sys/mman.h>

namespace pvrdma::verify {

void Unmap::operator()(std::byte* pages) const noexcept { ::munmap(pages, bytes); }

Pages map_pages(std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return Pages{pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages), Unmap{bytes}};
}

QueuePair create_pair(ibv_pd* pd, ibv_cq* completions, std::uint32_t sends,
                      std::uint32_t receives) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = sends;
  wanted.cap.max_recv_wr = receives;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  return QueuePair{ibv_create_qp(pd, &wanted)};
}

int to_init(ibv_qp* pair, int access) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = kOnlyPort;
  to.qp_access_flags = static_cast<unsigned>(access);
  return ibv_modify_qp(pair, &to,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int to_rtr(ibv_qp* pair, const Route& route) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = route.mtu;
  to.dest_qp_num = route.qpn;
  to.rq_psn = route.psn;
  to.max_dest_rd_atomic = 1;
  to.min_rnr_timer = 12;  // 0.64 ms
  to.ah_attr.is_global = 1;
  to.ah_attr.dlid = route.lid;
  to.ah_attr.port_num = kOnlyPort;
  to.ah_attr.grh.dgid = route.gid;
  to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(route.gid_index);
  to.ah_attr.grh.hop_limit = route.hop_limit;
  return ibv_modify_qp(pair, &to,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

// Lost messages are repeated for half a second, so that a failure comes within the test's time.
int to_rts(ibv_qp* pair, std::uint32_t psn, std::uint8_t rnr_retry) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.sq_psn = psn;
  to.timeout = 14;  // 67 ms
  to.retry_cnt = 7;
  to.rnr_retry = rnr_retry;
  to.max_rd_atomic = 1;
  return ibv_modify_qp(pair, &to,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

ibv_sge piece(const ibv_mr& region, const std::byte* at, std::size_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(at), static_cast<std::uint32_t>(bytes), region.lkey};
}

int post(ibv_qp* pair, ibv_send_wr request, std::uint64_t id, ibv_sge what) {
  request.wr_id = id;
  request.sg_list = &what;
  request.num_sge = 1;
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(pair, &request, &bad);
}

int post_send(ibv_qp* pair, std::uint64_t id, ibv_sge what) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  return post(pair, request, id, what);
}

int post_receive(ibv_qp* pair, std::uint64_t id, ibv_sge where) {
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = &where;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(pair, &request, &bad);
}

}  // namespace pvrdma::verify
