// The part of ConfigureLink that is about addresses: adding ours, removing those of ours that the
// configuration no longer names, and keeping the records of them.
#pragma once

#include <vector>

#include "agent/executor/link.hpp"

namespace pvrdma::executor {

// As configure_link() says of addresses, on a link that is up. A failure leaves the others set.
[[nodiscard]] Report configure_addresses(RouteSocket& socket, const Netdev& link,
                                         const LinkSettings& settings,
                                         std::vector<probes::RecordedAddress>& records);

}  // namespace pvrdma::executor
