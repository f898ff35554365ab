#include "agent/tools/mtu/expectation.hpp"

#include <algorithm>

namespace pvrdma::ctl::pmtu {

Carries carries(const Measurement& one, unsigned bytes) {
  if (one.outcome.mtu >= bytes) return Carries::Yes;
  return one.found() ? Carries::No : Carries::Unknown;
}

Carries carries(const std::vector<Measurement>& all, unsigned bytes) {
  const auto any = [&](Carries wanted) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Measurement& one) { return carries(one, bytes) == wanted; });
  };
  if (any(Carries::No)) return Carries::No;
  return any(Carries::Unknown) ? Carries::Unknown : Carries::Yes;
}

const char* to_string(Carries carries) {
  switch (carries) {
    case Carries::Yes:
      return "yes";
    case Carries::No:
      return "no";
    case Carries::Unknown:
      break;
  }
  return "unknown";
}

bool vanishes(const Measurement& one) { return one.found() && one.outcome.limit == Limit::Silence; }

}  // namespace pvrdma::ctl::pmtu
