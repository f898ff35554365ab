#include "agent/tools/verify/peer/link.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <random>

namespace pvrdma::verify {

namespace {

constexpr std::uint8_t kOnlyPort = 1;
constexpr std::size_t kGidBytes = 16;
constexpr std::uint32_t k24Bits = 0xffffff;  // queue pair and packet sequence numbers
constexpr unsigned kPollsBetweenLooks = 4096;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE;

constexpr int kInitMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                         IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRtsMask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                         IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

Handle<ibv_context, ibv_close_device> open_device(const std::string& name) {
  const Handle<ibv_device*, ibv_free_device_list> devices{ibv_get_device_list(nullptr)};
  errno = ENODEV;
  for (ibv_device* const* at = devices.get(); at != nullptr && *at != nullptr; ++at)
    if (name == ibv_get_device_name(*at))
      return Handle<ibv_context, ibv_close_device>{ibv_open_device(*at)};
  return nullptr;
}

std::string to_text(const ibv_gid& gid) {
  std::string text;
  for (const std::uint8_t byte : gid.raw) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(byte));
    text += digits.data();
  }
  return text;
}

bool parse_gid(const std::string& text, ibv_gid& gid) {
  if (text.size() != 2 * kGidBytes) return false;
  for (std::size_t at = 0; at < kGidBytes; ++at) {
    const char* digits = text.data() + 2 * at;
    if (std::from_chars(digits, digits + 2, gid.raw[at], 16).ptr != digits + 2) return false;
  }
  return true;
}

bool is_valid(const LinkName& name) {
  return name.qpn <= k24Bits && name.psn <= k24Bits && name.mtu >= IBV_MTU_256 &&
         name.mtu <= IBV_MTU_4096;
}

ibv_qp_attr to_init() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = kOnlyPort;
  to.qp_access_flags = kAccess;
  return to;
}

ibv_qp_attr to_rtr(const LinkName& own, const LinkName& peer, const ibv_gid& gid, int gid_index) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = static_cast<ibv_mtu>(std::min(peer.mtu, own.mtu));
  to.dest_qp_num = peer.qpn;
  to.rq_psn = peer.psn;
  to.max_dest_rd_atomic = 1;
  to.min_rnr_timer = 12;  // 0.64 ms
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = kOnlyPort;
  to.ah_attr.grh.dgid = gid;
  to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
  to.ah_attr.grh.hop_limit = 64;  // the peer may be behind a router
  return to;
}

// Lost messages are repeated for half a second; a peer without a receive is waited for without end,
// as the deadline is ours.
ibv_qp_attr to_rts(const LinkName& own) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.sq_psn = own.psn;
  to.timeout = 14;  // 67 ms
  to.retry_cnt = 7;
  to.rnr_retry = 7;
  to.max_rd_atomic = 1;
  return to;
}

}  // namespace

Result<std::unique_ptr<Link>> Link::open(const std::string& device, int gid_index) {
  std::unique_ptr<Link> link{new Link};
  if (auto created = link->create(device, gid_index); !created) return fail(created.error());
  return link;
}

Link::~Link() {
  pair_.reset();
  completions_.reset();
  region_.reset();
  if (memory_ != nullptr) ::munmap(memory_, 2 * kMessageAtMost);
}

Result<void> Link::create(const std::string& device, int gid_index) {
  gid_index_ = gid_index;
  context_ = open_device(device);
  if (!context_) return fail(errno, "opening", device);
  ibv_port_attr port{};
  if (const int code = ibv_query_port(context_.get(), kOnlyPort, &port))
    return fail(code, "asking for port 1 of", device);
  if (port.state != IBV_PORT_ACTIVE) return fail(ENETDOWN, "asking for port 1 of", device);
  ibv_gid gid{};
  if (ibv_query_gid(context_.get(), kOnlyPort, gid_index, &gid) != 0)
    return fail(errno, "reading the GID of", device);
  pd_.reset(ibv_alloc_pd(context_.get()));
  if (!pd_) return fail(errno, "allocating a protection domain of", device);
  void* pages = ::mmap(nullptr, 2 * kMessageAtMost, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return fail(errno, "allocating", "memory for messages");
  memory_ = static_cast<std::byte*>(pages);
  region_.reset(ibv_reg_mr(pd_.get(), memory_, 2 * kMessageAtMost, kAccess));
  if (!region_) return fail(errno, "registering", "2 MiB of memory (see ulimit -l)");
  completions_.reset(ibv_create_cq(context_.get(), static_cast<int>(2 * (kReceives + kSends)),
                                   nullptr, nullptr, 0));
  if (!completions_) return fail(errno, "creating a completion queue of", device);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = kSends;
  wanted.cap.max_recv_wr = kReceives;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  pair_.reset(ibv_create_qp(pd_.get(), &wanted));
  if (!pair_) return fail(errno, "creating a queue pair of", device);
  name_ = {to_text(gid), pair_->qp_num, std::random_device{}() & k24Bits, port.active_mtu};
  return {};
}

Result<void> Link::connect(const LinkName& peer) {
  ibv_gid gid{};
  if (!parse_gid(peer.gid, gid) || !is_valid(peer))
    return fail(EINVAL, "connecting to", "the peer's queue pair");
  ibv_qp_attr to = to_init();
  if (const int code = ibv_modify_qp(pair_.get(), &to, kInitMask))
    return fail(code, "bringing to INIT", "the queue pair");
  to = to_rtr(name_, peer, gid, gid_index_);
  if (const int code = ibv_modify_qp(pair_.get(), &to, kRtrMask))
    return fail(code, "bringing to RTR", "the queue pair");
  to = to_rts(name_);
  if (const int code = ibv_modify_qp(pair_.get(), &to, kRtsMask))
    return fail(code, "bringing to RTS", "the queue pair");
  return {};
}

Result<void> Link::send(std::size_t offset, std::size_t bytes, std::uint64_t id) {
  ibv_sge where{reinterpret_cast<std::uintptr_t>(out() + offset), static_cast<std::uint32_t>(bytes),
                region_->lkey};
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &where;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  if (const int code = ibv_post_send(pair_.get(), &request, &bad))
    return fail(code, "posting", "a send");
  return {};
}

Result<void> Link::receive(std::size_t offset, std::size_t bytes, std::uint64_t id) {
  ibv_sge where{reinterpret_cast<std::uintptr_t>(in() + offset), static_cast<std::uint32_t>(bytes),
                region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = &where;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (const int code = ibv_post_recv(pair_.get(), &request, &bad))
    return fail(code, "posting", "a receive");
  return {};
}

Result<Done> Link::next(BootTime deadline, const std::function<bool()>& is_gone) {
  for (unsigned polls = 1;; ++polls) {
    ibv_wc work{};
    const int count = ibv_poll_cq(completions_.get(), 1, &work);
    if (count < 0) return fail(EIO, "polling", "the completion queue");
    if (count > 0) {
      if (work.status != IBV_WC_SUCCESS)
        return fail(0, "passing a message",
                    std::string{"to or from the peer: "} + ibv_wc_status_str(work.status));
      return Done{(work.opcode & IBV_WC_RECV) != 0, work.byte_len, work.wr_id};
    }
    if (polls % kPollsBetweenLooks != 0) continue;
    if (BootClock::now() >= deadline)
      return fail(ETIMEDOUT, "waiting for", "a message or its completion");
    if (is_gone()) return fail(ECONNRESET, "waiting for", "a message: the peer has ended");
  }
}

}  // namespace pvrdma::verify
