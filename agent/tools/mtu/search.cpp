// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/search.hpp"

#include <algorithm>

namespace pvrdma::ctl::pmtu {

std::optional<Probe> Search::wanted() const {
  if (open_ || finished()) return std::nullopt;
  const unsigned size = choose();
  return Probe{size, tries(size) + 1};
}

unsigned Search::choose() const {
  if (!asked_link_) return kLargestPacket;
  if (low_ == 0) {
    const unsigned first = std::min(guess_, top_);
    return first > floor_ && tries(first) == 0 ? first : floor_;
  }
  const unsigned high = this->high();
  if (low_ < guess_ && guess_ < high) return guess_;
  if (high > top_) return top_;
  if (!failed_.at(high).claim && tries(high) < patience_) return high;
  // A guess that passes is right more often than not: one byte more settles it.
  if (guess_ == low_ && high > low_ + 1) return low_ + 1;
  // The middle; where there is none left, the smallest that failed, once more.
  return high > low_ + 1 ? low_ + (high - low_) / 2 : high;
}

unsigned Search::tries(unsigned size) const {
  const auto found = failed_.find(size);
  if (found == failed_.end()) return 0;
  return found->second.here ? kTriesMost : found->second.tries;  // it need not be asked again
}

unsigned Search::high() const {
  const auto found = failed_.upper_bound(low_);
  return found == failed_.end() ? top_ + 1 : found->first;
}

unsigned Search::needed() const {
  return kTries + (kTriesMost - kTries) * (patience_ - 1) / (kPatienceMost - 1);
}

bool Search::decided() const {
  if (low_ == 0) return false;
  if (low_ >= top_) return true;
  return tries(low_ + 1) >= needed() && open_ != low_ + 1;
}

bool Search::finished() const {
  if (decided()) return true;
  if (open_ || !asked_link_) return false;
  if (probes_ >= kProbesMax) return true;
  return low_ == 0 && tries(floor_) >= needed();
}

Limit Search::limit() const {
  if (low_ >= top_) return link_mtu_ ? Limit::LocalLink : Limit::LargestPacket;
  if (failed_.at(low_ + 1).here) return Limit::LocalLink;
  return deciding_claim() ? Limit::Router : Limit::Silence;
}

// Routers limit the rate of their messages: where those about the deciding size are missing, an
// earlier one that names this very MTU will do.
std::optional<Claim> Search::deciding_claim() const {
  if (const auto& claim = failed_.at(low_ + 1).claim) return claim;
  const auto found = routers_.find(low_);
  if (found == routers_.end()) return std::nullopt;
  return Claim{found->second, low_};
}

Outcome Search::outcome() const {
  Outcome outcome{low_, decided(), probes_, link_mtu_, std::nullopt, std::nullopt};
  if (outcome.exact) outcome.limit = limit();
  if (outcome.limit == Limit::Router) outcome.claim = deciding_claim();
  return outcome;
}

void Search::sent(unsigned size) {
  asked_link_ = true;
  ++probes_;
  ++failed_[size].tries;
  open_ = size;
}

void Search::too_large_here(unsigned size, std::optional<unsigned> link_mtu) {
  asked_link_ = true;
  // An MTU that would let the packet pass explains nothing.
  if (!link_mtu || *link_mtu >= size || *link_mtu == 0) {
    failed_[size].here = true;
    return;
  }
  link_mtu_ = link_mtu;
  top_ = std::min(top_, *link_mtu);
  floor_ = std::min(floor_, top_);
  failed_.erase(failed_.upper_bound(top_), failed_.end());
}

void Search::answered(unsigned size) {
  const bool first = low_ == 0;
  // Something smaller, or this very size, stayed without an answer before: packets get lost here.
  const auto smallest = failed_.begin();
  const bool lost =
      !first && smallest != failed_.end() &&
      (smallest->first < size || (smallest->first == size && smallest->second.tries > 1));
  if (lost) patience_ = std::min(patience_ + 1, kPatienceMost);
  low_ = std::max(low_, size);
  failed_.erase(failed_.begin(), failed_.upper_bound(low_));
  if (open_ && *open_ <= low_) open_.reset();
  if (!first) return;
  // What got no answer before anything passed may have waited for the neighbour's address, or been
  // given too little time: it counts for nothing. Refusals count.
  for (auto it = failed_.begin(); it != failed_.end();) {
    const bool keep = it->second.here || it->second.claim || it->first == open_;
    it = keep ? std::next(it) : failed_.erase(it);
  }
}

void Search::refused(unsigned size, const Claim& claim) {
  const auto found = failed_.find(size);
  if (found != failed_.end()) found->second.claim = claim;
  // Another try need not wait. The last one does: an answer would prove the router wrong.
  if (open_ == size && tries(size) < needed()) open_.reset();
  if (claim.mtu < std::max(floor_, low_) || claim.mtu >= size) return;
  const bool news = routers_.emplace(claim.mtu, claim.router).second;
  if (!news || claims_followed_ == kClaimsFollowed) return;
  ++claims_followed_;
  guess_ = claim.mtu;
}

}  // namespace pvrdma::ctl::pmtu
