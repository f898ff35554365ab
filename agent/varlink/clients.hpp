// SPDX-License-Identifier: GPL-2.0-or-later
// Clients: who of those that connect may stay, so that no user shuts out another.
//
// root and the service's own user always find a place: nobody else can take all descriptors, as
// their clients are limited. Of the others each user has a share, and one who has fewer clients
// than another gets a place of the other's where all are taken.
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

  // Whether one more client of this user may come. Where that takes the place of another user's,
  // the newest client of the user who has the most is closed: the longer one is there, the more
  // likely it is no flood.
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
