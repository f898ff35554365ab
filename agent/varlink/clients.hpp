// SPDX-License-Identifier: GPL-2.0-or-later
// Clients: decides which clients may stay, so that no user can shut out another.
//
// root and the service's own user are always accepted: the clients of all other users are limited,
// so they cannot take all descriptors. Each other user has a limit of its own. Where all places are
// taken, a user with fewer clients gets a place from a user with more.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
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

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  [[nodiscard]] bool is_limited(uid_t uid) const { return uid != 0 && uid != own_uid_; }

  Limits limits_;
  uid_t own_uid_;
  std::map<const Connection*, std::shared_ptr<Connection>> all_;
  std::map<uid_t, std::vector<Connection*>> limited_;  // each user's, the oldest first
  std::size_t limited_count_ = 0;
};

}  // namespace pvrdma::varlink
