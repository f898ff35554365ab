// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/link.hpp"

#include <cerrno>

#include "agent/base/text.hpp"
#include "probes/pci.hpp"

namespace pvrdma::executor {

Result<int> interface_of(const Root& root, const std::string& net_function,
                         const std::string& netdev) {
  const auto path = probes::function_path(root, net_function) / "net" / netdev / "ifindex";
  const auto text = read_attribute(path);
  if (!text) return fail(text.error());
  const auto index = number_from<int>(*text);
  if (!index || *index <= 0) return fail(EBADMSG, "reading", path);
  return *index;
}

OperationResult configure_link(RouteSocket& socket, int index, const LinkSettings& settings,
                               AddressRecords& records, const SaveRecords& save) {
  const auto link = socket.link(index);
  if (!link) return failed(link.error());
  bool changed = false;
  if (settings.mtu && *settings.mtu != link->mtu) {
    Alone alone = link->link_up ? settings.begin_alone() : Alone{};
    if (alone.refused) return std::move(*alone.refused);
    if (auto set = socket.set_mtu(index, *settings.mtu); !set) return failed(set.error());
    changed = true;
  }
  if (!link->link_up) {
    if (auto set = socket.bring_up(index); !set) return failed(set.error());
    changed = true;
  }
  OperationResult addresses = configure_addresses(socket, *link, settings, records, save);
  if (addresses.outcome == Outcome::Failed || (!changed && !addresses.good())) return addresses;
  if (changed || addresses.outcome == Outcome::Done) return done();
  return already_done(link->name + " is up and as configured");
}

}  // namespace pvrdma::executor
