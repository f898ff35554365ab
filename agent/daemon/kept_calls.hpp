// Calls that are answered later. One whose client leaves is dropped at once: what is kept never
// grows beyond the clients that are there.
#pragma once

#include <vector>

#include "agent/base/clock.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma {

class KeptCalls {
 public:
  KeptCalls() = default;
  ~KeptCalls();
  KeptCalls(const KeptCalls&) = delete;
  KeptCalls& operator=(const KeptCalls&) = delete;
  KeptCalls(KeptCalls&&) = delete;
  KeptCalls& operator=(KeptCalls&&) = delete;

  void add(const varlink::CallPtr& call, BootTime now);
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] std::size_t size() const { return kept_.size(); }
  // A copy, as a client that is sent something may turn out to have left.
  [[nodiscard]] std::vector<varlink::CallPtr> all() const;
  // Those that came no later than `time`; they are kept no longer.
  [[nodiscard]] std::vector<varlink::CallPtr> take_until(BootTime time);

 private:
  struct Kept {
    varlink::CallPtr call;
    BootTime since;
  };
  std::vector<Kept> kept_;  // the oldest first
};

}  // namespace pvrdma
