#include "probes/link_owner.hpp"

#include <algorithm>
#include <array>

#include "probes/ifupdown.hpp"
#include "probes/network_manager.hpp"
#include "probes/networkd.hpp"

namespace pvrdma::probes {

namespace {

// A manager that has the link outranks one that may take it, and that one a manager that will not
// say; each is asked only while the one before it has not claimed the link.
int rank(const Field<LinkOwner>& owner) {
  if (owner.is_known()) return owner.get()->decided ? 3 : 1;
  return owner.is_unreadable() ? 2 : 0;
}

bool is_link(const RootedPath& place) {
  const auto status = status_of(place, FinalLink::Shown);
  return status && S_ISLNK(status->st_mode);
}

}  // namespace

bool service_runs(const Root& root, const std::string& service) {
  return is_link(root / ("/run/systemd/units/invocation:" + service));
}

bool service_is_enabled(const Root& root, const std::string& service) {
  constexpr std::array kPlaces{"/etc/systemd/system/multi-user.target.wants",
                               "/etc/systemd/system/network.target.wants",
                               "/run/systemd/generator/multi-user.target.wants",
                               "/run/systemd/system/multi-user.target.wants"};
  return std::any_of(kPlaces.begin(), kPlaces.end(),
                     [&](const char* place) { return is_link(root / place / service); });
}

Field<LinkOwner> link_owner(const Root& root, const std::string& name, int index) {
  Field<LinkOwner> owner = networkd_owner(root, index);
  if (rank(owner) == 3) return owner;
  if (auto other = network_manager_owner(root, name); rank(other) > rank(owner))
    owner = std::move(other);
  if (rank(owner) == 3) return owner;
  if (auto other = ifupdown_owner(root, name); rank(other) > rank(owner)) owner = std::move(other);
  return owner;
}

}  // namespace pvrdma::probes
