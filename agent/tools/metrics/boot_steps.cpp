#include "agent/tools/metrics/boot_steps.hpp"

namespace pvrdma::metrics {

const Timeline* BootSteps::latest() {
  const BootTime now = BootClock::now();
  if (is_due(now)) {
    read_at_ = now;
    if (auto read = read_()) known_ = std::move(*read);
  }
  return known_ ? &*known_ : nullptr;
}

bool BootSteps::is_due(BootTime now) const {
  const bool complete = known_ && known_->find(StepKind::Ready) != nullptr;
  return read_ && !complete && (!read_at_ || now - *read_at_ >= pause_);
}

}  // namespace pvrdma::metrics
