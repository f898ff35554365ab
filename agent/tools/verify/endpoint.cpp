#include "agent/tools/verify/endpoint.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "probes/port_words.hpp"

namespace pvrdma::ctl::selftest {

namespace {

constexpr std::uint8_t kPort = 1;  // the adapter has one
constexpr int kQueueDepth = 8;     // of each kind of work; never more than three are outstanding

struct Path {
  ibv_port_attr port{};
  ibv_gid gid{};
  int gid_index = 0;
};

Outcome<void> open(Endpoint& endpoint, const char* name, const Begin& begin) {
  begin(Step::Find);
  const Handle<ibv_device*, ibv_free_device_list> devices{ibv_get_device_list(nullptr)};
  if (!devices) return failure(errno);
  ibv_device* const* at = devices.get();
  while (*at != nullptr && std::strcmp(ibv_get_device_name(*at), name) != 0) ++at;
  if (*at == nullptr) return failure(ENODEV, "libibverbs does not know it");
  begin(Step::Open);
  endpoint.context.reset(ibv_open_device(*at));
  if (!endpoint.context) return failure(errno);
  return {};
}

Outcome<void> ask_port(const Endpoint& endpoint, Path& path, const Begin& begin) {
  begin(Step::Port);
  if (const int code = ibv_query_port(endpoint.context.get(), kPort, &path.port))
    return failure(code);
  if (path.port.state != IBV_PORT_ACTIVE)
    return failure(ENETDOWN, "it is " + probes::port_state_word(path.port.state));
  begin(Step::Gid);
  if (ibv_query_gid(endpoint.context.get(), kPort, path.gid_index, &path.gid) != 0)
    return failure(errno);
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  if (std::all_of(std::begin(path.gid.raw), std::end(path.gid.raw), is_zero))
    return failure(EADDRNOTAVAIL, "there is none of index " + std::to_string(path.gid_index));
  return {};
}

Outcome<void> create_objects(Endpoint& endpoint, const Begin& begin) {
  begin(Step::Pd);
  endpoint.pd.reset(ibv_alloc_pd(endpoint.context.get()));
  if (!endpoint.pd) return failure(errno);
  begin(Step::Memory);
  if (endpoint.buffer.data() == nullptr) return failure(ENOMEM, "allocating it");
  endpoint.region.reset(ibv_reg_mr(endpoint.pd.get(), endpoint.buffer.data(), Buffer::size(),
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (!endpoint.region) return failure(errno, std::to_string(Buffer::size()) + " bytes");
  begin(Step::Channel);
  endpoint.channel.reset(ibv_create_comp_channel(endpoint.context.get()));
  if (!endpoint.channel) return failure(errno);
  begin(Step::Cq);
  endpoint.completions.reset(
      ibv_create_cq(endpoint.context.get(), 4 * kQueueDepth, nullptr, endpoint.channel.get(), 0));
  if (!endpoint.completions) return failure(errno);
  begin(Step::QueuePairs);
  for (Endpoint::QueuePair& pair : endpoint.pairs) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = endpoint.completions.get();
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = wanted.cap.max_recv_wr = kQueueDepth;
    wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
    pair.reset(ibv_create_qp(endpoint.pd.get(), &wanted));
    if (!pair) return failure(errno);
  }
  return {};
}

ibv_qp_attr to_init() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = kPort;
  to.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  return to;
}

// The path leads back to the port it starts from.
ibv_qp_attr to_rtr(const Path& path, std::uint32_t peer) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = path.port.active_mtu;
  to.dest_qp_num = peer;
  to.max_dest_rd_atomic = 1;
  to.min_rnr_timer = 12;  // 0.64 ms
  to.ah_attr.is_global = 1;
  to.ah_attr.dlid = path.port.lid;
  to.ah_attr.port_num = kPort;
  to.ah_attr.grh.dgid = path.gid;
  to.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(path.gid_index);
  to.ah_attr.grh.hop_limit = 1;
  return to;
}

// Lost messages are repeated for half a second, so that an end comes within the test's time.
ibv_qp_attr to_rts() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.timeout = 14;  // 67 ms
  to.retry_cnt = 7;
  to.rnr_retry = 6;
  to.max_rd_atomic = 1;
  return to;
}

constexpr int kInitMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                         IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRtsMask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                         IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

Outcome<void> connect_pairs(Endpoint& endpoint, const Path& path, const Begin& begin) {
  const auto modify = [&](Step step, int mask, const auto& attributes) -> Outcome<void> {
    begin(step);
    for (std::size_t at = 0; at < endpoint.pairs.size(); ++at) {
      ibv_qp_attr to = attributes(endpoint.pairs.at(1 - at)->qp_num);
      if (const int code = ibv_modify_qp(endpoint.pairs.at(at).get(), &to, mask))
        return failure(code);
    }
    return {};
  };
  return modify(Step::Init, kInitMask, [](std::uint32_t) { return to_init(); })
      .and_then([&] {
        return modify(Step::Rtr, kRtrMask, [&](std::uint32_t peer) { return to_rtr(path, peer); });
      })
      .and_then(
          [&] { return modify(Step::Rts, kRtsMask, [](std::uint32_t) { return to_rts(); }); });
}

}  // namespace

Buffer::Buffer() {
  void* pages = ::mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED) data_ = static_cast<std::byte*>(pages);
}

Buffer::~Buffer() {
  if (data_ != nullptr) ::munmap(data_, size());
}

Outcome<void> connect(Endpoint& endpoint, const char* device, int gid_index, const Begin& begin) {
  Path path;
  path.gid_index = gid_index;
  return open(endpoint, device, begin)
      .and_then([&] { return ask_port(endpoint, path, begin); })
      .and_then([&] { return create_objects(endpoint, begin); })
      .and_then([&] { return connect_pairs(endpoint, path, begin); });
}

Outcome<void> release(Endpoint& endpoint) {
  for (Endpoint::QueuePair& pair : endpoint.pairs)
    if (const int code = ibv_destroy_qp(pair.release())) return failure(code, "a queue pair");
  if (const int code = ibv_destroy_cq(endpoint.completions.release()))
    return failure(code, "the completion queue");
  if (const int code = ibv_destroy_comp_channel(endpoint.channel.release()))
    return failure(code, "the completion channel");
  if (const int code = ibv_dereg_mr(endpoint.region.release())) return failure(code, "the memory");
  if (const int code = ibv_dealloc_pd(endpoint.pd.release()))
    return failure(code, "the protection domain");
  if (ibv_close_device(endpoint.context.release()) != 0) return failure(errno, "the device");
  return {};
}

}  // namespace pvrdma::ctl::selftest
