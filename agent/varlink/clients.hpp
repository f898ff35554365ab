// SPDX-License-Identifier: GPL-2.0-or-later
// The clients of a varlink service: which may stay, so that no uid can shut out another.
//
// root and the service's own user are always accepted: the clients of all other users are limited,
// so they cannot take all descriptors. Each other user has a limit of its own. Where all places are
// taken, a user with fewer clients gets a place from a user with more; so does a block of 65,536
// uids, as one user may have that many (subuid(5)). Each other user has a share of the CPU as well
// (unless Limits::cpu_shares is off), so that a flood leaves time for all, and costs the machine
// little.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "agent/varlink/connection.hpp"

namespace pvrdma::varlink {

class Clients {
 public:
  Clients(const Limits& limits, uid_t own_uid) : limits_(limits), own_uid_(own_uid) {}

  // Whether one more client of this user is accepted. If it needs another user's place, the newest
  // client of the user with the most clients is closed: an older client is less likely to be part
  // of a flood.
  [[nodiscard]] bool make_room_for(uid_t uid);
  void add(std::shared_ptr<Connection> connection);
  // May destroy the connection.
  void remove(const Connection& connection);
  // Counts CPU time that this process has spent for a client of this user, at this time of
  // CLOCK_MONOTONIC (both in µs). A user who has used up the share of a user rests: nothing is done
  // for its clients until wake(). Returns true if a rest begins, which may be the first to end.
  [[nodiscard]] bool spent(uid_t uid, std::uint64_t cpu, std::uint64_t now);
  // Ends each rest whose time has come. Returns when the next one ends, if a user still rests.
  std::optional<std::uint64_t> wake(std::uint64_t now);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  // Whether there were many clients at one time, and most of them have left.
  [[nodiscard]] bool crowd_has_left() const noexcept;
  // Counts the next crowd from the clients of now.
  void forget_crowd() noexcept { most_ = size(); }

 private:
  [[nodiscard]] bool is_limited(uid_t uid) const { return uid != 0 && uid != own_uid_; }
  [[nodiscard]] bool make_room_for_block_of(uid_t uid);
  void set_rest(uid_t uid, bool rests);

  struct Account {
    std::uint64_t settled = 0;  // when the user's share will have made up for what was spent
    bool rests = false;
  };
  Limits limits_;
  uid_t own_uid_;
  std::map<uid_t, Account> accounts_;  // of users who have spent something lately
  std::map<const Connection*, std::shared_ptr<Connection>> all_;
  std::map<uid_t, std::vector<Connection*>> limited_;  // each user's, the oldest first
  std::size_t limited_count_ = 0;
  std::size_t most_ = 0;  // at one time, since the last crowd
};

}  // namespace pvrdma::varlink
