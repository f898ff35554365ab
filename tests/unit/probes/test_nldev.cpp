// SPDX-License-Identifier: GPL-2.0-or-later
#include <rdma/rdma_netlink.h>

#include <cerrno>

#include "probes/rdma_nldev.hpp"
#include "tests/unit/probes/bytes.hpp"

using namespace pvrdma;
using pvrdma::test::Bytes;

namespace {

// Attributes of nldev (<rdma/rdma_netlink.h>), to build messages that were not recorded.
constexpr std::uint16_t kResSummary = 15;
constexpr std::uint16_t kResSummaryEntry = 16;
constexpr std::uint16_t kResSummaryName = 17;
constexpr std::uint16_t kResSummaryCount = 18;
constexpr std::uint16_t kResPid = 28;
constexpr std::uint16_t kResKernName = 29;
constexpr std::uint16_t kResUseCount = RDMA_NLDEV_ATTR_RES_USECNT;
constexpr std::uint16_t kResPd = RDMA_NLDEV_ATTR_RES_PD;
constexpr std::uint16_t kResPdEntry = RDMA_NLDEV_ATTR_RES_PD_ENTRY;
constexpr std::uint16_t kResCtx = 86;
constexpr std::uint16_t kResCtxEntry = 87;
constexpr std::uint16_t kNldevContexts = (5 << 10) + 22;
constexpr std::uint16_t kNldevDomains = (5 << 10) + RDMA_NLDEV_CMD_RES_PD_GET;
constexpr std::uint16_t kNldevSummary = (5 << 10) + 9;

std::string attribute(std::uint16_t type, const std::string& content) {
  const auto length = static_cast<std::uint16_t>(4 + content.size());
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &length, 2);
  std::memcpy(bytes.data() + 2, &type, 2);
  bytes += content;
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

std::string word(std::uint32_t value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

std::string message(std::uint16_t type, const std::string& payload) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + payload.size());
  header.nlmsg_type = type;
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes + payload;
}

std::string contexts(const std::string& entries) {
  return message(kNldevContexts, attribute(kResCtx, entries));
}

std::string domains(const std::string& entries) {
  return message(kNldevDomains, attribute(kResPd, entries));
}

// A protection domain with `uses` objects in it. Without a kernel name it belongs to a process.
std::string domain(char uses, const std::string& kernel_name) {
  return attribute(kResPdEntry,
                   attribute(kResUseCount, std::string(1, uses) + std::string(7, '\0')) +
                       (kernel_name.empty() ? attribute(kResPid, word(812))
                                            : attribute(kResKernName, kernel_name + '\0')));
}

Result<std::vector<std::string>> users(const std::string& datagram) {
  Bytes bytes{datagram};
  return probes::parse_nldev_kernel_users(bytes.message());
}

Result<std::vector<pid_t>> parsed(const std::string& message) {
  Bytes bytes{message};
  return probes::parse_nldev_contexts(bytes.message());
}

}  // namespace

TEST_CASE("nldev's devices") {
  const auto devices = test::parsed_answer("nldev-devices", probes::parse_nldev_device);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].name == "rocep0s16f1");
  CHECK(devices[0].index == 0);
  CHECK(devices[1].name == "rocep0s17f1");
  CHECK(devices[1].index == 1);
}

TEST_CASE("nldev's port, with and without its netdev") {
  const auto paired = test::parsed_answer("nldev-port", probes::parse_nldev_port);
  REQUIRE(paired.size() == 1);
  CHECK(paired[0].state.is(PortState::Active));
  CHECK(paired[0].phys_state.is(PhysState::LinkUp));
  CHECK(paired[0].netdev.is("ens16f0"));
  const auto lost = test::parsed_answer("nldev-port-without-netdev", probes::parse_nldev_port);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].state.is(PortState::Active));
  CHECK(lost[0].netdev.is_absent());
}

TEST_CASE("a device that nldev does not know is EINVAL") {
  Bytes bytes{test::captured("nldev-no-such-device").at(0)};
  const OnMessage pass_over = [](nlmsghdr&) { return Result<void>{}; };
  AnswerReader reader{test::kSequence, pass_over};
  CHECK(reader.read(bytes.span()) == true);
  REQUIRE_FALSE(reader.verdict());
  CHECK(reader.verdict().error().code == EINVAL);
}

TEST_CASE("nldev's contexts, held and free") {
  const auto held = test::parsed_answer("nldev-contexts-held", probes::parse_nldev_contexts);
  REQUIRE(held.size() == 1);
  CHECK(held[0] == std::vector<pid_t>{374, 376});
  CHECK(test::parsed_answer("nldev-contexts-free", probes::parse_nldev_contexts).empty());
}

TEST_CASE("a context of the kernel is no holder, one without a PID is") {
  const std::string entries =
      attribute(kResCtxEntry, attribute(kResKernName, std::string{"ib_core\0", 8})) +
      attribute(kResCtxEntry, attribute(kResPid, word(812))) + attribute(kResCtxEntry, "");
  CHECK(parsed(contexts(entries)) == std::vector<pid_t>{812, 0});
  CHECK(parsed(contexts("")) == std::vector<pid_t>{});
}

TEST_CASE("the owners of protection domains, without the kernel") {
  Bytes bytes{
      domains(domain(1, "ib_core") + domain(0, "") + domain(3, "nvmet_rdma") + domain(2, ""))};
  const auto owners = probes::parse_nldev_domain_owners(bytes.message());
  REQUIRE(owners);
  CHECK(*owners == std::vector<pid_t>{812, 812});
}

TEST_CASE("a cut-off list of contexts is an error, never fewer holders") {
  const std::string entry = attribute(kResCtxEntry, attribute(kResPid, word(812)));
  const std::string too_long{"\xff\xff\x57\0", 4};
  for (const std::string& bad : {contexts(entry + "xx"), contexts(entry + too_long),
                                 contexts(attribute(kResCtxEntry, attribute(kResPid, "x")))}) {
    const auto processes = parsed(bad);
    REQUIRE_FALSE(processes);
    CHECK(processes.error().code == EBADMSG);
  }
}

TEST_CASE("a protection domain of the kernel is a user, except for management datagrams") {
  CHECK(users(domains(domain(2, "ib_core") + domain(0, "smc"))) == std::vector<std::string>{});
  CHECK(users(domains(domain(1, "ib_core") + domain(2, "nvmet_rdma") + domain(2, "") +
                      domain(4, "x\x1b[2J"))) ==
        std::vector<std::string>{"nvmet_rdma", "x\\x1b[2J"});
  CHECK(users(domains("")) == std::vector<std::string>{});
  // A domain without its number of uses might have any.
  CHECK(users(domains(attribute(kResPdEntry, attribute(kResKernName, std::string{"smc\0", 4})))) ==
        std::vector<std::string>{"smc"});
  CHECK(users(domains(domain(2, "rpcrdma") + "xx")).error().code == EBADMSG);
}

TEST_CASE("queue pairs are counted without asking the device") {
  const auto counted = [](const std::string& entries) {
    Bytes bytes{message(kNldevSummary, attribute(kResSummary, entries))};
    return probes::parse_nldev_queue_pairs(bytes.message());
  };
  const auto entry = [](const std::string& name, char count) {
    return attribute(kResSummaryEntry,
                     attribute(kResSummaryName, name + '\0') +
                         attribute(kResSummaryCount, std::string(1, count) + std::string(7, '\0')));
  };
  CHECK(counted(entry("pd", 3) + entry("qp", 2) + entry("cq", 5)).value() == 2);
  CHECK(counted(entry("pd", 3)).value() == 0);
  CHECK(counted(entry("qp", 2) + "xx").error().code == EBADMSG);
  CHECK(counted(attribute(kResSummaryEntry, attribute(kResSummaryCount, "x"))).error().code ==
        EBADMSG);
}

TEST_CASE("messages of another client are refused") {
  std::string other = test::captured("nldev-port").at(0);
  other[5] = 0;
  Bytes bytes{other};
  CHECK_FALSE(probes::parse_nldev_port(bytes.message()));
  CHECK_FALSE(probes::parse_nldev_device(bytes.message()));
  CHECK_FALSE(probes::parse_nldev_contexts(bytes.message()));
  CHECK_FALSE(probes::parse_nldev_kernel_users(bytes.message()));
}

TEST_CASE("nldev: damaged messages cause no crash") {
  test::survive_mutations("nldev-devices", probes::parse_nldev_device);
  test::survive_mutations("nldev-port", probes::parse_nldev_port);
  test::survive_mutations("nldev-contexts-held", probes::parse_nldev_contexts);
}

TEST_CASE("this machine's nldev answers, or gives an error") {
  auto nldev = probes::Nldev::open();
  if (!nldev) {
    CHECK(nldev.error().code == EPROTONOSUPPORT);
    return;
  }
  CHECK(nldev->list());
  CHECK(nldev->find("no-such-device") == nullptr);
  CHECK(nldev->port(0x7fffffff).error().code == EINVAL);
  CHECK(nldev->kernel_users(0x7fffffff).error().code == EINVAL);
}
