// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/clients.hpp"

#include <algorithm>
#include <utility>

namespace pvrdma::varlink {

namespace {

// A user with less work than this, some dozens of calls a second, has the best priority after root.
constexpr std::uint64_t kLittleWork = 64;
constexpr std::uint64_t kHalvedEveryUs = 1'000'000;
constexpr std::size_t kUsersRemembered = 1024;
constexpr std::int64_t kRootsPriority = -1;
// An attacker may control the service's own user, who must not delay signals and other events.
constexpr std::int64_t kOwnPriority = 0;
constexpr std::size_t kCrowd = 8;        // more than the tools and exporters of a quiet machine
constexpr std::size_t kPartOfCrowd = 4;  // the crowd has left when at most a fourth of it is there

// The number of a block of as many uids as useradd(8) gives a user (SUB_UID_COUNT, login.defs(5)).
constexpr uid_t block_of(uid_t uid) { return uid >> 16U; }

}  // namespace

bool Clients::make_room_for(uid_t uid) {
  if (!is_limited(uid)) return true;
  const auto own = limited_.find(uid);
  const std::size_t count = own == limited_.end() ? 0 : own->second.size();
  if (count >= limits_.clients_per_uid) return false;
  if (limited_count_ < limits_.clients) return true;
  const auto most = std::max_element(
      limited_.begin(), limited_.end(),
      [](const auto& one, const auto& other) { return one.second.size() < other.second.size(); });
  // Nothing is gained if the newcomer then has as many connections as the uid that loses one.
  if (most == limited_.end() || most->second.size() <= count + 1)
    return make_room_for_block_of(uid);
  most->second.back()->close();
  return true;
}

// The same rule for blocks of uids. A user's uids may lie in two blocks, each with its own share.
bool Clients::make_room_for_block_of(uid_t uid) {
  struct Block {
    std::size_t clients = 0;
    const std::vector<Connection*>* most = nullptr;  // of one uid
  };
  std::map<uid_t, Block> blocks;
  for (const auto& [other, clients] : limited_) {
    Block& block = blocks[block_of(other)];
    block.clients += clients.size();
    if (block.most == nullptr || clients.size() > block.most->size()) block.most = &clients;
  }
  const auto most = std::max_element(
      blocks.begin(), blocks.end(),
      [](const auto& one, const auto& other) { return one.second.clients < other.second.clients; });
  if (most == blocks.end() || most->second.clients <= blocks[block_of(uid)].clients + 1)
    return false;
  most->second.most->back()->close();
  return true;
}

void Clients::add(std::shared_ptr<Connection> connection) {
  const uid_t uid = connection->peer_uid();
  if (is_limited(uid)) {
    limited_[uid].push_back(connection.get());
    ++limited_count_;
  }
  all_.emplace(connection.get(), std::move(connection));
  most_ = std::max(most_, size());
}

void Clients::remove(const Connection& connection) {
  if (const auto own = limited_.find(connection.peer_uid()); own != limited_.end()) {
    limited_count_ -= std::erase(own->second, &connection);
    if (own->second.empty()) limited_.erase(own);
  }
  all_.erase(&connection);
}

std::int64_t Clients::worked_for(uid_t uid, std::uint64_t now) {
  if (uid == 0) return kRootsPriority;
  if (!is_limited(uid)) return kOwnPriority;
  // A user namespace can have thousands of users, who all start anew when the list is full.
  if (work_.size() >= kUsersRemembered && work_.count(uid) == 0) work_.clear();
  Work& work = work_.try_emplace(uid, Work{0, now}).first->second;
  const std::uint64_t halvings = (now - work.since) / kHalvedEveryUs;
  work.pieces = halvings < 64 ? work.pieces >> halvings : 0;
  work.since += halvings * kHalvedEveryUs;
  ++work.pieces;
  return static_cast<std::int64_t>(work.pieces / kLittleWork);
}

bool Clients::crowd_has_left() const noexcept {
  return most_ >= kCrowd && size() <= most_ / kPartOfCrowd;
}

}  // namespace pvrdma::varlink
