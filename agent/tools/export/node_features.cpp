// Labels of a Kubernetes node, for Node Feature Discovery.

#include <fmt/format.h>

#include <algorithm>

#include "agent/tools/export/formats.hpp"

namespace pvrdma::exports {

std::string node_features(const Health& health, const Moment& now, Milliseconds lifetime) {
  const auto ready =
      std::count_if(health.adapters.begin(), health.adapters.end(),
                    [](const AdapterHealth& adapter) { return adapter.state == State::Ready; });
  return fmt::format(
      "# +expiry-time={}\n"
      "pvrdma.io/state={}\n"
      "pvrdma.io/ready={}\n"
      "pvrdma.io/adapters={}\n"
      "pvrdma.io/adapters-ready={}\n",
      wall_time(now.boot + lifetime, now), to_string(health.state),
      health.state == State::Ready ? "true" : "false", health.adapters.size(), ready);
}

}  // namespace pvrdma::exports
