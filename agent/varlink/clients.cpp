// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/clients.hpp"

#include <algorithm>
#include <utility>

namespace pvrdma::varlink {

bool Clients::make_room_for(uid_t uid) {
  if (!is_limited(uid)) return true;
  const auto own = limited_.find(uid);
  const std::size_t count = own == limited_.end() ? 0 : own->second.size();
  if (count >= limits_.clients_per_uid) return false;
  if (limited_count_ < limits_.clients) return true;
  const auto most = std::max_element(
      limited_.begin(), limited_.end(),
      [](const auto& one, const auto& other) { return one.second.size() < other.second.size(); });
  // Do not evict a client if the newcomer would then hold as many connections.
  if (most == limited_.end() || most->second.size() <= count + 1) return false;
  most->second.back()->close();
  return true;
}

void Clients::add(std::shared_ptr<Connection> connection) {
  const uid_t uid = connection->peer_uid();
  if (is_limited(uid)) {
    limited_[uid].push_back(connection.get());
    ++limited_count_;
  }
  all_.emplace(connection.get(), std::move(connection));
}

void Clients::remove(const Connection& connection) {
  if (const auto own = limited_.find(connection.peer_uid()); own != limited_.end()) {
    limited_count_ -= std::erase(own->second, &connection);
    if (own->second.empty()) limited_.erase(own);
  }
  all_.erase(&connection);
}

}  // namespace pvrdma::varlink
