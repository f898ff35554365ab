#include "agent/executor/link.hpp"

#include <cerrno>

#include "agent/base/text.hpp"
#include "agent/executor/link_addresses.hpp"
#include "agent/executor/saved_link.hpp"

namespace pvrdma::executor {

namespace {

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

Report after_bounce(RouteSocket& socket, int index, const SavedLink& saved) {
  const auto restored = restore_link(socket, index, saved);
  if (!restored) {
    Report report = failed(restored.error());
    report.detail =
        "the link is up again, but what it lost could not be restored: " + report.detail;
    return report;
  }
  if (!restored->missing.empty())
    return {Outcome::Failed,
            "the link is up again, but these could not be restored: " + join(restored->missing),
            0,
            {}};
  Report report = done();
  if (!restored->again.empty()) report.detail = "restored " + join(restored->again);
  return report;
}

}  // namespace

Result<int> interface_of(const Root& root, const std::string& net_function,
                         const std::string& netdev) {
  const auto path = root / "/sys/bus/pci/devices" / net_function / "net" / netdev / "ifindex";
  const auto text = read_attribute(path);
  if (!text) return fail(text.error());
  const auto index = number_from<int>(*text);
  if (!index || *index <= 0) return fail(EBADMSG, "reading", path);
  return *index;
}

Report configure_link(RouteSocket& socket, int index, const LinkSettings& settings,
                      std::vector<probes::BookedAddress>& book) {
  const auto link = socket.link(index);
  if (!link) return failed(link.error());
  bool changed = false;
  if (settings.mtu && *settings.mtu != link->mtu) {
    if (auto set = socket.set_mtu(index, *settings.mtu); !set) return failed(set.error());
    changed = true;
  }
  if (!link->up) {
    if (auto set = socket.set_up(index, true); !set) return failed(set.error());
    changed = true;
  }
  Report addresses = configure_addresses(socket, *link, settings, book);
  if (!addresses.good()) return addresses;
  if (changed || addresses.outcome == Outcome::Done) return done();
  return already_done(link->name + " is up and as configured");
}

Report bounce_link(RouteSocket& socket, int index) {
  const auto link = socket.link(index);
  if (!link) return failed(link.error());
  if (!link->up) {
    const auto set = socket.set_up(index, true);
    return set ? Report{Outcome::Done, link->name + " was down", 0, {}} : failed(set.error());
  }
  const auto saved = save_link(socket, index);
  if (!saved) return failed(saved.error());
  if (!saved->obstacle.empty())
    return {Outcome::NotAllowed,
            "a bounce would lose what is on the link: " + saved->obstacle,
            EOPNOTSUPP,
            {}};
  const auto down = socket.set_up(index, false);
  // Whatever came of the first half, the link is not left down.
  auto up = socket.set_up(index, true);
  if (!up) up = socket.set_up(index, true);
  if (!up) {
    Report report = failed(up.error());
    report.detail = "the link was taken down and could not be brought up: " + report.detail;
    return report;
  }
  Report report = after_bounce(socket, index, *saved);
  return down ? report : failed(down.error());
}

}  // namespace pvrdma::executor
