// The interface that a connected socket sends by.
#pragma once

#include <string>

namespace pvrdma::ctl::pmtu {

// The name of the interface that holds the socket's own address, if its MTU is `mtu` bytes, as the
// one sent by is known to have: Linux lets an address stand on another interface than packets leave
// by, and no name is better than a wrong one. Empty: none.
[[nodiscard]] std::string interface_of(int fd, unsigned mtu);

}  // namespace pvrdma::ctl::pmtu
