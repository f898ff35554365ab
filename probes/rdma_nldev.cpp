#include "probes/rdma_nldev.hpp"

#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "probes/port_words.hpp"

namespace pvrdma::probes {

namespace {

// Highest attribute looked at; the kernel's own list grows with each release.
constexpr int kAttributes = RDMA_NLDEV_ATTR_RES_CTX_ENTRY;
using Attributes = std::array<nlattr*, kAttributes + 1>;

const nla_policy* policy() {
  static const auto kPolicy = [] {
    std::array<nla_policy, kAttributes + 1> table{};
    for (const int at : {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_RES_PID})
      table[static_cast<std::size_t>(at)].type = NLA_U32;
    for (const int at : {RDMA_NLDEV_ATTR_PORT_STATE, RDMA_NLDEV_ATTR_PORT_PHYS_STATE})
      table[static_cast<std::size_t>(at)].type = NLA_U8;
    return table;
  }();
  return kPolicy.data();
}

Result<Attributes> attributes_of(nlmsghdr& message) {
  Attributes attributes{};
  // Only the client is checked: kernels before 5.1 answer PORT_GET under the number of GET.
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
    port.state = port_state_word(nla_get_u8(state));
  if (nlattr* state = (*attributes)[RDMA_NLDEV_ATTR_PORT_PHYS_STATE])
    port.phys_state = phys_state_word(nla_get_u8(state));
  if (nlattr* netdev = (*attributes)[RDMA_NLDEV_ATTR_NDEV_NAME])
    port.netdev = attribute_text(netdev);
  return port;
}

Result<std::vector<pid_t>> parse_nldev_contexts(nlmsghdr& message) {
  const auto attributes = attributes_of(message);
  if (!attributes) return fail(attributes.error());
  std::vector<pid_t> processes;
  nlattr* table = (*attributes)[RDMA_NLDEV_ATTR_RES_CTX];
  if (table == nullptr) return processes;
  int left = 0;
  nlattr* entry = nullptr;
  nla_for_each_nested(entry, table, left) {
    Attributes fields{};
    if (nla_parse_nested(fields.data(), kAttributes, entry, policy()) < 0)
      return fail(EBADMSG, "reading the kernel's answer about", "verbs contexts");
    if (fields[RDMA_NLDEV_ATTR_RES_KERN_NAME] != nullptr) continue;
    nlattr* pid = fields[RDMA_NLDEV_ATTR_RES_PID];
    processes.push_back(pid != nullptr ? static_cast<pid_t>(nla_get_u32(pid)) : 0);
  }
  if (left != 0) return fail(EBADMSG, "reading the kernel's answer about", "verbs contexts");
  return processes;
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
  const auto message = question_about(RDMA_NLDEV_CMD_RES_CTX_GET, NLM_F_DUMP, index);
  if (!message) return fail(no_memory());
  std::vector<pid_t> processes;
  const auto answered = socket_.ask(*message, [&](nlmsghdr& reply) {
    return parse_nldev_contexts(reply).map([&](const std::vector<pid_t>& more) {
      processes.insert(processes.end(), more.begin(), more.end());
    });
  });
  if (!answered) return fail(answered.error().code, "asking for", "verbs contexts");
  return processes;
}

}  // namespace pvrdma::probes
