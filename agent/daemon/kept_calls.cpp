#include "agent/daemon/kept_calls.hpp"

#include <algorithm>

namespace pvrdma {

using varlink::CallPtr;

KeptCalls::~KeptCalls() {
  for (const Kept& kept : kept_) kept.call->on_gone(nullptr);
}

void KeptCalls::add(const CallPtr& call, BootTime now) {
  kept_.push_back({call, now});
  // By its address: a callback that held the call would keep it alive.
  call->on_gone([this, gone = call.get()] {
    std::erase_if(kept_, [gone](const Kept& kept) { return kept.call.get() == gone; });
  });
}

std::vector<CallPtr> KeptCalls::all() const {
  std::vector<CallPtr> calls;
  calls.reserve(kept_.size());
  for (const Kept& kept : kept_) calls.push_back(kept.call);
  return calls;
}

std::vector<CallPtr> KeptCalls::take_until(BootTime time) {
  const auto end = std::find_if(kept_.begin(), kept_.end(),
                                [time](const Kept& kept) { return kept.since > time; });
  std::vector<CallPtr> taken;
  taken.reserve(static_cast<std::size_t>(end - kept_.begin()));
  for (auto kept = kept_.begin(); kept != end; ++kept) {
    kept->call->on_gone(nullptr);
    taken.push_back(std::move(kept->call));
  }
  kept_.erase(kept_.begin(), end);
  return taken;
}

}  // namespace pvrdma
