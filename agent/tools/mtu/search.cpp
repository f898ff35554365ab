// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/search.hpp"

#include <algorithm>

namespace pvrdma::ctl::pmtu {

namespace {
constexpr unsigned kAskedAtMost = 60;  // limits the search on a lossy path
}

Search::Search(unsigned passed, unsigned sent, unsigned link_mtu)
    : low_(passed),
      link_mtu_(link_mtu == 0 ? std::nullopt : std::optional{link_mtu}),
      link_(std::min(link_mtu_.value_or(kLargestPacket), kLargestPacket)),
      high_(link_ + 1),
      probes_(sent),
      troubled_(sent > 1) {}

std::optional<unsigned> Search::next() const {
  if (low_ >= link_ || asked_ >= kAskedAtMost) return std::nullopt;
  if (high_ == low_ + 1)
    return why_.fate == Fate::Silent && silences_ < 2 ? std::optional{high_} : std::nullopt;
  if (low_ < guess_ && guess_ < high_) return guess_;
  if (high_ > link_) return link_;
  // A guess that passes is right more often than not: one byte more settles it.
  return guess_ == low_ ? low_ + 1 : low_ + (high_ - low_) / 2;
}

void Search::heard(unsigned size, const Reply& reply) {
  ++asked_;
  probes_ += reply.sent;
  if (reply.fate == Fate::Passed) {
    troubled_ = troubled_ || reply.sent > 1;
    low_ = std::max(low_, size);
    if (low_ >= high_) high_ = link_ + 1;  // packets of `high_` were lost, and not refused
    return;
  }
  if (reply.fate == Fate::Refused) {
    routers_.emplace(reply.mtu, reply.router);
    latest_ = Claim{reply.router, reply.mtu};
  }
  if (reply.fate == Fate::TooLargeHere && !link_mtu_ && routers_.empty() && reply.mtu >= low_) {
    link_mtu_ = link_ = std::min(reply.mtu, link_);
    high_ = link_ + 1;
    return;
  }
  silences_ = reply.fate == Fate::Silent ? 1 + (size == high_ ? silences_ : 0) : 0;
  high_ = size;
  // The kernel refuses all that is larger; a router may have named less than what passed before.
  if (reply.fate == Fate::TooLargeHere && reply.mtu != 0)
    high_ = std::min(size, std::max(reply.mtu, low_) + 1);
  if (low_ < reply.mtu && reply.mtu < high_) guess_ = reply.mtu;
  why_ = reply;
}

Outcome Search::outcome() const {
  Outcome found{low_, decided() && !next(), probes_, link_mtu_, std::nullopt, std::nullopt};
  if (!found.exact) return found;
  if (low_ >= link_) {
    found.limit = link_ == kLargestPacket ? Limit::LargestPacket : Limit::LocalLink;
    return found;
  }
  // A router that limits the rate of its messages may be silent about the deciding size.
  if (const auto said = routers_.find(low_); said != routers_.end())
    found.claim = Claim{said->second, said->first};
  else if (why_.fate != Fate::Silent)
    found.claim = latest_.value_or(Claim{"", why_.mtu});
  found.limit = found.claim ? Limit::Router : Limit::Silence;
  return found;
}

}  // namespace pvrdma::ctl::pmtu
