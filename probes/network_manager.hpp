// NetworkManager's word about a link, over D-Bus (its API, org.freedesktop.NetworkManager.Device
// and .Connection.Active; both may be read by anyone).
#pragma once

#include <cstdint>
#include <string>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// What NetworkManager says about one device.
struct ManagedDevice {
  bool managed = false;
  std::uint32_t state = 0;  // NMDeviceState
  bool active = false;      // it has an active connection
  bool external = false;    // which only mirrors what somebody else has configured
  std::string file;         // the active connection's keyfile
};

// Absent: the link is left alone, or what is on it is known to be somebody else's.
[[nodiscard]] Field<LinkOwner> owner_from(const ManagedDevice& device);

// Absent: NetworkManager does not run and is not enabled either, or leaves the link alone. Asks
// nothing over the bus while it does not run; each answer is waited for half a second at most.
[[nodiscard]] Field<LinkOwner> network_manager_owner(const Root& root, const std::string& name);

}  // namespace pvrdma::probes
