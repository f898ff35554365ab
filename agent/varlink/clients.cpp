// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/clients.hpp"

#include <algorithm>
#include <utility>

namespace pvrdma::varlink {

namespace {

// A user has a twentieth of a CPU: hundreds of calls a second. So much may be used at once, as when
// the processes of a job ask together.
constexpr std::uint64_t kPartOfCpu = 20;
constexpr std::uint64_t kAtOnceUs = 5'000;
// Connections are accepted, and counted, during a rest as well, so a rest could last for ever.
constexpr std::uint64_t kLongestRestUs = 1'000'000;
constexpr std::size_t kManyAccounts = 1024;
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
    const auto account = accounts_.find(uid);
    connection->set_rest(account != accounts_.end() && account->second.rests);
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

bool Clients::spent(uid_t uid, std::uint64_t cpu, std::uint64_t now) {
  if (!limits_.cpu_shares || !is_limited(uid)) return false;
  // A user namespace can have thousands of users.
  if (accounts_.size() >= kManyAccounts) static_cast<void>(wake(now));
  Account& account = accounts_[uid];
  account.settled =
      std::min(std::max(account.settled, now) + cpu * kPartOfCpu, now + kLongestRestUs);
  if (account.rests || account.settled - now <= kAtOnceUs * kPartOfCpu) return false;
  account.rests = true;
  set_rest(uid, true);
  return true;
}

std::optional<std::uint64_t> Clients::wake(std::uint64_t now) {
  std::optional<std::uint64_t> next;
  std::erase_if(accounts_, [&](const auto& entry) {
    const auto& [uid, account] = entry;
    if (account.settled <= now) {
      if (account.rests) set_rest(uid, false);
      return true;
    }
    if (account.rests && (!next || account.settled < *next)) next = account.settled;
    return false;
  });
  return next;
}

void Clients::set_rest(uid_t uid, bool rests) {
  if (const auto own = limited_.find(uid); own != limited_.end())
    for (Connection* const connection : own->second) connection->set_rest(rests);
}

bool Clients::crowd_has_left() const noexcept {
  return most_ >= kCrowd && size() <= most_ / kPartOfCrowd;
}

}  // namespace pvrdma::varlink
