// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <random>
#include <string_view>

#include "agent/base/held_signals.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::verify {

namespace {

constexpr std::size_t kGidBytes = 16;
constexpr std::uint32_t k24Bits = 0xffffff;  // queue pair and packet sequence numbers
constexpr unsigned kPollsBetweenLooks = 4096;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE;

constexpr std::uint8_t kHopLimit = 64;  // the peer may be behind a router
// The number that means "without end": our own deadline ends the wait for a peer without a receive.
constexpr std::uint8_t kWithoutEnd = 7;

Handle<ibv_context, ibv_close_device> open_device(const std::string& name) {
  const Handle<ibv_device*, ibv_free_device_list> devices{ibv_get_device_list(nullptr)};
  errno = ENODEV;
  for (ibv_device* const* at = devices.get(); at != nullptr && *at != nullptr; ++at)
    if (name == ibv_get_device_name(*at))
      return Handle<ibv_context, ibv_close_device>{ibv_open_device(*at)};
  return nullptr;
}

std::optional<ibv_gid> gid_from(std::string_view text) {
  if (text.size() != 2 * kGidBytes) return std::nullopt;
  ibv_gid gid{};
  for (std::size_t at = 0; at < kGidBytes; ++at) {
    const auto byte = number_from<std::uint8_t>(text.substr(2 * at, 2), 16);
    if (!byte) return std::nullopt;
    gid.raw[at] = *byte;
  }
  return gid;
}

bool is_valid(const PairName& name) {
  return name.qpn <= k24Bits && name.psn <= k24Bits && name.mtu >= IBV_MTU_256 &&
         name.mtu <= IBV_MTU_4096;
}

}  // namespace

Result<Connection> Connection::open(const std::string& device, int gid_index) {
  Connection connection;
  connection.device_ = device;
  connection.gid_index_ = gid_index;
  connection.context_ = open_device(device);
  ibv_context* const context = connection.context_.get();
  if (context == nullptr) return fail(errno, "opening", device);
  ibv_port_attr port{};
  if (const int code = ibv_query_port(context, kOnlyPort, &port))
    return fail(code, "asking for port 1 of", device);
  if (port.state != IBV_PORT_ACTIVE) return fail(ENETDOWN, "asking for port 1 of", device);
  ibv_gid gid{};
  if (ibv_query_gid(context, kOnlyPort, gid_index, &gid) != 0)
    return fail(errno, "reading the GID of", device);
  connection.pd_.reset(ibv_alloc_pd(context));
  if (!connection.pd_) return fail(errno, "allocating a protection domain of", device);
  connection.memory_ = map_pages(2 * kMessageAtMost);
  if (!connection.memory_) return fail(errno, "allocating", "memory for messages");
  connection.region_.reset(
      ibv_reg_mr(connection.pd_.get(), connection.memory_.get(), 2 * kMessageAtMost, kAccess));
  if (!connection.region_) return fail(errno, "registering", "2 MiB of memory (see ulimit -l)");
  connection.completions_.reset(
      ibv_create_cq(context, static_cast<int>(2 * (kReceives + kSends)), nullptr, nullptr, 0));
  if (!connection.completions_) return fail(errno, "creating a completion queue of", device);
  connection.pair_ =
      create_pair(connection.pd_.get(), connection.completions_.get(), kSends, kReceives);
  if (!connection.pair_) return fail(errno, "creating a queue pair of", device);
  connection.name_ = {hexadecimal(gid.raw), connection.pair_->qp_num,
                      std::random_device{}() & k24Bits, port.active_mtu};
  return connection;
}

Connection::~Connection() {
  const HeldSignals held;
  pair_.reset();
  completions_.reset();
  region_.reset();
  pd_.reset();
  context_.reset();
}

Result<void> Connection::connect(const PairName& peer) {
  const auto gid = gid_from(peer.gid);
  if (!gid || !is_valid(peer)) return fail(EINVAL, "connecting to", "the peer's queue pair");
  Route route;
  route.mtu = static_cast<ibv_mtu>(std::min(peer.mtu, name_.mtu));
  route.gid = *gid;
  route.gid_index = gid_index_;
  route.hop_limit = kHopLimit;
  route.qpn = peer.qpn;
  route.psn = peer.psn;
  const std::string own = "the queue pair of " + device_ + ", GID " + std::to_string(gid_index_);
  if (const int code = to_init(pair_.get(), kAccess)) return fail(code, "bringing to INIT", own);
  if (const int code = to_rtr(pair_.get(), route)) return fail(code, "bringing to RTR", own);
  if (const int code = to_rts(pair_.get(), name_.psn, kWithoutEnd))
    return fail(code, "bringing to RTS", own);
  return {};
}

Result<void> Connection::send(std::size_t offset, std::size_t bytes) {
  if (const int code = post_send(pair_.get(), 0, piece(*region_, out() + offset, bytes)))
    return fail(code, "posting", "a send");
  return {};
}

Result<void> Connection::receive(std::size_t offset, std::size_t bytes) {
  if (const int code = post_receive(pair_.get(), 0, piece(*region_, in() + offset, bytes)))
    return fail(code, "posting", "a receive");
  return {};
}

Result<Done> Connection::next(Control& control, BootTime deadline) {
  for (unsigned polls = 1;; ++polls) {
    ibv_wc work{};
    const int count = ibv_poll_cq(completions_.get(), 1, &work);
    if (count < 0) return fail(EIO, "polling", "the completion queue");
    if (count > 0) {
      if (work.status != IBV_WC_SUCCESS)
        return fail(
            0, "passing a message",
            std::string{"between this adapter and the peer's: "} + ibv_wc_status_str(work.status));
      return Done{(work.opcode & IBV_WC_RECV) != 0, work.byte_len};
    }
    if (polls % kPollsBetweenLooks != 0) continue;
    if (BootClock::now() >= deadline)
      return fail(ETIMEDOUT, "waiting for", "a message or its completion");
    if (auto there = control.check_peer(); !there) return fail(there.error());
  }
}

}  // namespace pvrdma::verify
