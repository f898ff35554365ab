#include "agent/executor/saved_link.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

namespace pvrdma::executor {

namespace {

using Parser = Result<std::optional<SavedItem>> (*)(nlmsghdr&, int);
struct Table {
  int question;
  Parser parse;
};
// In the order of restoring: routes may need addresses as their source.
constexpr Table kTables[] = {
    {RTM_GETADDR, address_item}, {RTM_GETROUTE, route_item}, {RTM_GETNEIGH, neighbour_item}};

Result<std::vector<SavedItem>> collect(RouteSocket& socket, int index, std::string& obstacle) {
  std::vector<SavedItem> items;
  for (const Table& table : kTables) {
    auto dumped = socket.dump(table.question, AF_UNSPEC, [&](nlmsghdr& message) -> Result<void> {
      auto item = table.parse(message, index);
      if (!item && item.error().code == EOPNOTSUPP)
        obstacle = item.error().what;
      else if (!item)
        return fail(std::move(item.error()));
      else if (*item)
        items.push_back(std::move(**item));
      return {};
    });
    if (!dumped) return fail(std::move(dumped.error()));
    // The kernel lists IPv6 addresses of one scope newest first, and prefers them in that order.
    if (table.question == RTM_GETADDR) std::reverse(items.begin(), items.end());
  }
  std::stable_partition(items.begin(), items.end(),
                        [](const SavedItem& item) { return !item.by_gateway; });
  return items;
}

Result<std::set<std::string>> present_keys(RouteSocket& socket, int index) {
  std::string ignored;
  auto now = collect(socket, index, ignored);
  if (!now) return fail(std::move(now.error()));
  std::set<std::string> keys;
  for (SavedItem& item : *now) keys.insert(std::move(item.key));
  return keys;
}

Result<void> send_back(RouteSocket& socket, const SavedItem& item) {
  std::vector<char> bytes = item.message;
  const probes::NetlinkMessage message{nlmsg_convert(reinterpret_cast<nlmsghdr*>(bytes.data()))};
  if (!message) return fail(ENOMEM, "restoring", item.text);
  nlmsghdr& header = *nlmsg_hdr(message.get());
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL;
  // Two routes may differ in their gateway alone: an equal one is EEXIST without EXCL too.
  if (header.nlmsg_type == RTM_NEWROUTE)
    header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_APPEND;
  header.nlmsg_seq = NL_AUTO_SEQ;
  header.nlmsg_pid = NL_AUTO_PORT;
  return socket.request(*message, "restoring", item.text);
}

}  // namespace

Result<SavedLink> save_link(RouteSocket& socket, int index) {
  SavedLink saved;
  const auto links = socket.links();
  if (!links) return fail(links.error());
  const auto own = std::find_if(links->begin(), links->end(),
                                [&](const LinkFacts& link) { return link.index == index; });
  if (own == links->end()) return fail(ENODEV, "looking at", "link " + std::to_string(index));
  if (own->master != 0) saved.obstacle = own->name + " is a port of another link";
  for (const LinkFacts& link : *links) {
    // The two ends of a veth name each other as their lower link: neither stands on the other.
    if (link.lower == index && own->lower != link.index)
      saved.obstacle = link.name + " stands on the link";
  }
  auto items = collect(socket, index, saved.obstacle);
  if (!items) return fail(std::move(items.error()));
  saved.items = std::move(*items);
  return saved;
}

Result<Restored> restore_link(RouteSocket& socket, int index, const SavedLink& saved) {
  auto present = present_keys(socket, index);
  if (!present) return fail(std::move(present.error()));
  std::vector<const SavedItem*> lost;
  for (const SavedItem& item : saved.items) {
    if (present->count(item.key) != 0) continue;
    lost.push_back(&item);
    // The look below tells whether it came back, whatever is answered here.
    static_cast<void>(send_back(socket, item));
  }
  present = present_keys(socket, index);
  if (!present) return fail(std::move(present.error()));
  Restored result;
  for (const SavedItem* item : lost)
    (present->count(item->key) != 0 ? result.again : result.missing).push_back(item->text);
  return result;
}

}  // namespace pvrdma::executor
