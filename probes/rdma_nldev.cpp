// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/rdma_nldev.hpp"

#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace pvrdma::probes {

namespace {

// RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX and its _ENTRY of Linux 5.14: the headers of
// Debian 11 are older.
constexpr int kGetContexts = 22;
constexpr std::size_t kContexts = 86;
constexpr int kContextEntry = 87;

// The highest attribute that is read; the kernel's own list grows with each release.
constexpr int kAttributes = kContextEntry;
using Attributes = std::array<nlattr*, kAttributes + 1>;

// An unused RoCE port has one queue pair, that of ib_core for management datagrams.
constexpr std::uint64_t kIdlePairs = 1;
constexpr const char* kManagement = "ib_core";

// Not const, because libnl before 3.5 takes no const.
nla_policy* policy() {
  static auto table = [] {
    std::array<nla_policy, kAttributes + 1> made{};
    for (const int at : {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_RES_PID})
      made[static_cast<std::size_t>(at)].type = NLA_U32;
    for (const int at : {RDMA_NLDEV_ATTR_PORT_STATE, RDMA_NLDEV_ATTR_PORT_PHYS_STATE})
      made[static_cast<std::size_t>(at)].type = NLA_U8;
    for (const int at : {RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, RDMA_NLDEV_ATTR_RES_USECNT})
      made[static_cast<std::size_t>(at)].type = NLA_U64;
    return made;
  }();
  return table.data();
}

Result<Attributes> attributes_of(nlmsghdr& message) {
  Attributes attributes{};
  // Only the client is checked, as kernels before 5.1 answer PORT_GET with the number of GET.
  if (RDMA_NL_GET_CLIENT(message.nlmsg_type) != RDMA_NL_NLDEV ||
      nlmsg_parse(&message, 0, attributes.data(), kAttributes, policy()) < 0)
    return fail(EBADMSG, "reading the kernel's answer about", "an RDMA device");
  return attributes;
}

NetlinkMessage question(int command, int flags) {
  const int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
  return NetlinkMessage{nlmsg_alloc_simple(type, NLM_F_REQUEST | flags)};
}

NetlinkMessage question_about(int command, int flags, std::uint32_t index) {
  NetlinkMessage message = question(command, flags);
  if (message && nla_put_u32(message.get(), RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0) return nullptr;
  return message;
}

Error no_memory() { return {ENOMEM, "asking about", "RDMA devices"}; }

// Calls `take` with the fields of each entry of `table`.
template <typename Take>
Result<void> each_entry(nlmsghdr& message, std::size_t table, const Take& take) {
  const auto attributes = attributes_of(message);
  if (!attributes) return fail(attributes.error());
  nlattr* entries = (*attributes)[table];
  if (entries == nullptr) return {};
  int left = 0;
  nlattr* entry = nullptr;
  nla_for_each_nested(entry, entries, left) {
    Attributes fields{};
    if (nla_parse_nested(fields.data(), kAttributes, entry, policy()) < 0)
      return fail(EBADMSG, "reading the kernel's answer about", "users of an RDMA device");
    take(fields);
  }
  if (left != 0)
    return fail(EBADMSG, "reading the kernel's answer about", "users of an RDMA device");
  return {};
}

Result<std::vector<pid_t>> processes_in(nlmsghdr& message, std::size_t table) {
  std::vector<pid_t> processes;
  const auto read = each_entry(message, table, [&](const Attributes& fields) {
    if (fields[RDMA_NLDEV_ATTR_RES_KERN_NAME] != nullptr) return;
    nlattr* pid = fields[RDMA_NLDEV_ATTR_RES_PID];
    processes.push_back(pid != nullptr ? static_cast<pid_t>(nla_get_u32(pid)) : 0);
  });
  return read.map([&] { return std::move(processes); });
}

// Reads all entries of a device from the kernel, message by message.
template <typename Entry>
Result<std::vector<Entry>> dump(NetlinkSocket& socket, int command, std::uint32_t index,
                                const char* what, Result<std::vector<Entry>> (*parse)(nlmsghdr&)) {
  const auto message = question_about(command, NLM_F_DUMP, index);
  if (!message) return fail(no_memory());
  std::vector<Entry> entries;
  const auto answered = socket.ask(*message, [&](nlmsghdr& reply) {
    return parse(reply).map([&](const std::vector<Entry>& more) {
      entries.insert(entries.end(), more.begin(), more.end());
    });
  });
  if (!answered) return fail(answered.error().code, "asking for", what);
  return entries;
}

}  // namespace

Result<NldevDevice> parse_nldev_device(nlmsghdr& message) {
  const auto attributes = attributes_of(message);
  if (!attributes) return fail(attributes.error());
  nlattr* index = (*attributes)[RDMA_NLDEV_ATTR_DEV_INDEX];
  nlattr* name = (*attributes)[RDMA_NLDEV_ATTR_DEV_NAME];
  if (index == nullptr || name == nullptr)
    return fail(EBADMSG, "reading the kernel's answer about", "an RDMA device");
  return NldevDevice{nla_get_u32(index), attribute_text(name)};
}

Result<NldevPort> parse_nldev_port(nlmsghdr& message) {
  const auto attributes = attributes_of(message);
  if (!attributes) return fail(attributes.error());
  NldevPort port;
  if (nlattr* state = (*attributes)[RDMA_NLDEV_ATTR_PORT_STATE])
    port.state = static_cast<PortState>(nla_get_u8(state));
  if (nlattr* state = (*attributes)[RDMA_NLDEV_ATTR_PORT_PHYS_STATE])
    port.phys_state = static_cast<PhysState>(nla_get_u8(state));
  if (nlattr* netdev = (*attributes)[RDMA_NLDEV_ATTR_NDEV_NAME])
    port.netdev = attribute_text(netdev);
  return port;
}

Result<std::vector<pid_t>> parse_nldev_contexts(nlmsghdr& message) {
  return processes_in(message, kContexts);
}

Result<std::vector<pid_t>> parse_nldev_domain_owners(nlmsghdr& message) {
  return processes_in(message, RDMA_NLDEV_ATTR_RES_PD);
}

Result<std::vector<std::string>> parse_nldev_kernel_users(nlmsghdr& message) {
  std::vector<std::string> users;
  const auto read = each_entry(message, RDMA_NLDEV_ATTR_RES_PD, [&](const Attributes& fields) {
    nlattr* name = fields[RDMA_NLDEV_ATTR_RES_KERN_NAME];
    nlattr* uses = fields[RDMA_NLDEV_ATTR_RES_USECNT];
    const bool is_used = uses == nullptr || nla_get_u64(uses) > 0;
    if (name != nullptr && is_used && attribute_text(name) != kManagement)
      users.push_back(attribute_text(name));
  });
  return read.map([&] { return std::move(users); });
}

Result<std::uint64_t> parse_nldev_queue_pairs(nlmsghdr& message) {
  std::uint64_t pairs = 0;
  const auto read = each_entry(message, RDMA_NLDEV_ATTR_RES_SUMMARY, [&](const Attributes& fields) {
    nlattr* name = fields[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME];
    nlattr* count = fields[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR];
    if (name != nullptr && count != nullptr && attribute_text(name) == "qp")
      pairs = nla_get_u64(count);
  });
  return read.map([&] { return pairs; });
}

Result<Nldev> Nldev::open() {
  auto socket = NetlinkSocket::open(NETLINK_RDMA);
  if (!socket) return fail(std::move(socket.error()));
  Nldev nldev{std::move(*socket)};
  if (auto listed = nldev.list(); !listed) return fail(std::move(listed.error()));
  return nldev;
}

Result<void> Nldev::list() {
  const auto message = question(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
  if (!message) return fail(no_memory());
  std::vector<NldevDevice> devices;
  const auto answered = socket_.ask(*message, [&](nlmsghdr& reply) {
    return parse_nldev_device(reply).map(
        [&](NldevDevice device) { devices.push_back(std::move(device)); });
  });
  if (!answered) return fail(answered.error().code, "listing", "RDMA devices");
  devices_ = std::move(devices);
  return {};
}

const NldevDevice* Nldev::find(const std::string& name) const {
  const auto found = std::ranges::find(devices_, name, &NldevDevice::name);
  return found == devices_.end() ? nullptr : &*found;
}

Result<NldevPort> Nldev::port(std::uint32_t index) {
  const auto message = question_about(RDMA_NLDEV_CMD_PORT_GET, 0, index);
  if (!message || nla_put_u32(message.get(), RDMA_NLDEV_ATTR_PORT_INDEX, 1) < 0)
    return fail(no_memory());
  NldevPort port;
  const auto answered = socket_.ask(*message, [&](nlmsghdr& reply) {
    return parse_nldev_port(reply).map([&](NldevPort parsed) { port = std::move(parsed); });
  });
  if (!answered) return fail(answered.error().code, "asking about port 1 of", "an RDMA device");
  return port;
}

Result<std::vector<pid_t>> Nldev::contexts(std::uint32_t index) {
  return dump(socket_, kGetContexts, index, "verbs contexts", parse_nldev_contexts);
}

Result<std::vector<pid_t>> Nldev::domain_owners(std::uint32_t index) {
  return dump(socket_, RDMA_NLDEV_CMD_RES_PD_GET, index, "protection domains",
              parse_nldev_domain_owners);
}

Result<std::vector<std::string>> Nldev::kernel_users(std::uint32_t index) {
  const auto message = question_about(RDMA_NLDEV_CMD_RES_GET, 0, index);
  if (!message) return fail(no_memory());
  std::uint64_t pairs = 0;
  const auto counted = socket_.ask(*message, [&](nlmsghdr& reply) {
    return parse_nldev_queue_pairs(reply).map([&](std::uint64_t count) { pairs = count; });
  });
  if (!counted) return fail(counted.error().code, "counting", "queue pairs");
  if (pairs <= kIdlePairs) return {};
  return dump(socket_, RDMA_NLDEV_CMD_RES_PD_GET, index, "protection domains",
              parse_nldev_kernel_users);
}

}  // namespace pvrdma::probes
