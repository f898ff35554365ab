// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/fuzz/made_up_verbs.hpp"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <cstring>
#include <deque>

#include "agent/tools/verify/peer/connection.hpp"
#include "tests/fuzz/target.hpp"

// The header has macros with the names of these functions.
#undef ibv_query_port
#undef ibv_reg_mr

namespace pvrdma::fuzz {

namespace {

struct Adapter {
  MadeUp how;
  std::deque<ibv_wc> done;
  std::uintptr_t begin = 0, end = 0;  // of the registered memory
  ibv_device device{};
  ibv_device* devices[2] = {&device, nullptr};
  ibv_context context{};
  ibv_pd domain{};
  ibv_cq queue{};
  ibv_qp pair{};
  ibv_mr region{};
};

Adapter& adapter() {
  static Adapter made_up;
  return made_up;
}

void require_in_memory(const ibv_sge& piece) {
  require(piece.addr >= adapter().begin && piece.addr + piece.length <= adapter().end,
          "a message lies in the memory that is registered");
}

// agent/base/held_signals.hpp says why.
int require_held_signals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  require(
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, SIGTERM) == 1,
      "no signal interrupts the destruction of an object");
  return 0;
}

int post_send(ibv_qp*, ibv_send_wr* work, ibv_send_wr**) {
  require_in_memory(*work->sg_list);
  ibv_wc done{};
  done.opcode = IBV_WC_SEND;
  if (!adapter().how.loses_sends) adapter().done.push_back(done);
  return 0;
}

int post_receive(ibv_qp*, ibv_recv_wr* work, ibv_recv_wr**) {
  require_in_memory(*work->sg_list);
  ibv_wc done{};
  done.opcode = IBV_WC_RECV;
  done.byte_len = work->sg_list->length - adapter().how.bytes_short;
  adapter().done.push_back(done);
  return 0;
}

int poll(ibv_cq*, int, ibv_wc* work) {
  auto& done = adapter().done;
  if (done.empty()) return 0;
  *work = done.front();
  done.pop_front();
  return 1;
}

}  // namespace

void make_up(MadeUp how) { adapter().how = how; }

}  // namespace pvrdma::fuzz

using pvrdma::fuzz::adapter;

// The signatures of infiniband/verbs.h.
extern "C" {

ibv_device** ibv_get_device_list(int*) { return adapter().devices; }
void ibv_free_device_list(ibv_device**) {}
const char* ibv_get_device_name(ibv_device*) { return pvrdma::fuzz::kMadeUpDevice; }
ibv_context* ibv_open_device(ibv_device*) {
  adapter().done.clear();
  ibv_context& context = adapter().context;
  context.ops.post_send = pvrdma::fuzz::post_send;
  context.ops.post_recv = pvrdma::fuzz::post_receive;
  context.ops.poll_cq = pvrdma::fuzz::poll;
  return &context;
}
int ibv_close_device(ibv_context*) { return pvrdma::fuzz::require_held_signals(); }
int ibv_query_port(ibv_context*, std::uint8_t, _compat_ibv_port_attr* port) {
  // The library fills only the structure's original part, without later members.
  ibv_port_attr attributes{};
  attributes.state = IBV_PORT_ACTIVE;
  attributes.active_mtu = IBV_MTU_1024;
  std::memcpy(static_cast<void*>(port), &attributes, offsetof(ibv_port_attr, port_cap_flags2));
  return 0;
}
int ibv_query_gid(ibv_context*, std::uint8_t, int, ibv_gid* gid) {
  std::memset(gid, 1, sizeof *gid);
  return 0;
}
ibv_pd* ibv_alloc_pd(ibv_context* context) {
  adapter().domain.context = context;
  return &adapter().domain;
}
int ibv_dealloc_pd(ibv_pd*) { return pvrdma::fuzz::require_held_signals(); }
ibv_mr* ibv_reg_mr(ibv_pd*, void* begin, std::size_t bytes, int) {
  adapter().begin = reinterpret_cast<std::uintptr_t>(begin);
  adapter().end = adapter().begin + bytes;
  return &adapter().region;
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* begin, std::size_t bytes, std::uint64_t, unsigned) {
  return ibv_reg_mr(domain, begin, bytes, 0);
}
int ibv_dereg_mr(ibv_mr*) { return pvrdma::fuzz::require_held_signals(); }
ibv_cq* ibv_create_cq(ibv_context* context, int, void*, ibv_comp_channel*, int) {
  adapter().queue.context = context;
  return &adapter().queue;
}
int ibv_destroy_cq(ibv_cq*) { return pvrdma::fuzz::require_held_signals(); }
ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr*) {
  adapter().pair.context = domain->context;
  return &adapter().pair;
}
int ibv_destroy_qp(ibv_qp*) { return pvrdma::fuzz::require_held_signals(); }
int ibv_modify_qp(ibv_qp*, ibv_qp_attr*, int) { return 0; }
const char* ibv_wc_status_str(ibv_wc_status) { return "failed"; }

}  // extern "C"
