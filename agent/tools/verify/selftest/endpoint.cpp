// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/selftest/endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "agent/base/held_signals.hpp"
#include "agent/model/port_state.hpp"

namespace pvrdma::ctl::selftest {

namespace {

using verify::kOnlyPort;

constexpr int kQueueDepth = 8;  // for each kind of work; at most three are outstanding
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
// A peer without a posted receive is tried again for some milliseconds.
constexpr std::uint8_t kReceiveRetries = 6;

Stepped<void> open(Endpoint& endpoint, const char* name, const Begin& begin) {
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

// Completes a route that leads back to this port.
Stepped<void> ask_port(const Endpoint& endpoint, verify::Route& route, const Begin& begin) {
  begin(Step::Port);
  ibv_port_attr port{};
  if (const int code = ibv_query_port(endpoint.context.get(), kOnlyPort, &port))
    return failure(code);
  if (port.state != IBV_PORT_ACTIVE)
    return failure(ENETDOWN, "it is " + to_string(static_cast<PortState>(port.state)));
  route.mtu = port.active_mtu;
  route.lid = port.lid;
  begin(Step::Gid);
  if (ibv_query_gid(endpoint.context.get(), kOnlyPort, route.gid_index, &route.gid) != 0)
    return failure(errno);
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  if (std::all_of(std::begin(route.gid.raw), std::end(route.gid.raw), is_zero))
    return failure(EADDRNOTAVAIL, "there is none of index " + std::to_string(route.gid_index));
  return {};
}

Stepped<void> create_objects(Endpoint& endpoint, const Begin& begin) {
  begin(Step::Pd);
  endpoint.pd.reset(ibv_alloc_pd(endpoint.context.get()));
  if (!endpoint.pd) return failure(errno);
  begin(Step::Memory);
  endpoint.buffer = verify::map_pages(kBufferBytes);
  if (!endpoint.buffer) return failure(ENOMEM, "allocating it");
  endpoint.region.reset(
      ibv_reg_mr(endpoint.pd.get(), endpoint.buffer.get(), kBufferBytes, kAccess));
  if (!endpoint.region) return failure(errno, std::to_string(kBufferBytes) + " bytes");
  begin(Step::Channel);
  endpoint.channel.reset(ibv_create_comp_channel(endpoint.context.get()));
  if (!endpoint.channel) return failure(errno);
  begin(Step::Cq);
  endpoint.completions.reset(
      ibv_create_cq(endpoint.context.get(), 4 * kQueueDepth, nullptr, endpoint.channel.get(), 0));
  if (!endpoint.completions) return failure(errno);
  begin(Step::QueuePairs);
  for (verify::QueuePair& pair : endpoint.pairs) {
    pair = verify::create_pair(endpoint.pd.get(), endpoint.completions.get(), kQueueDepth,
                               kQueueDepth);
    if (!pair) return failure(errno);
  }
  return {};
}

Stepped<void> connect_pairs(Endpoint& endpoint, verify::Route route, const Begin& begin) {
  begin(Step::Init);
  for (const verify::QueuePair& pair : endpoint.pairs)
    if (const int code = verify::to_init(pair.get(), kAccess)) return failure(code);
  begin(Step::Rtr);
  for (std::size_t at = 0; at < endpoint.pairs.size(); ++at) {
    route.qpn = endpoint.pairs.at(1 - at)->qp_num;
    if (const int code = verify::to_rtr(endpoint.pairs.at(at).get(), route)) return failure(code);
  }
  begin(Step::Rts);
  for (const verify::QueuePair& pair : endpoint.pairs)
    if (const int code = verify::to_rts(pair.get(), 0, kReceiveRetries)) return failure(code);
  return {};
}

}  // namespace

Endpoint::~Endpoint() {
  const HeldSignals held;
  for (verify::QueuePair& pair : pairs) pair.reset();
  completions.reset();
  channel.reset();
  region.reset();
  pd.reset();
  context.reset();
}

Stepped<void> connect(Endpoint& endpoint, const char* device, int gid_index, const Begin& begin) {
  verify::Route route;
  route.gid_index = gid_index;
  return open(endpoint, device, begin)
      .and_then([&] { return ask_port(endpoint, route, begin); })
      .and_then([&] { return create_objects(endpoint, begin); })
      .and_then([&] { return connect_pairs(endpoint, route, begin); });
}

Stepped<void> release(Endpoint& endpoint) {
  for (verify::QueuePair& pair : endpoint.pairs)
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
