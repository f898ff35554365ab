#include "probes/netlink.hpp"

#include <cerrno>

#include "tests/unit/probes/bytes.hpp"

using namespace pvrdma;
using pvrdma::test::Bytes;

namespace {

// A message of `type` with one word of payload.
std::string message(std::uint16_t type, std::uint16_t flags, int payload,
                    std::uint32_t sequence = test::kSequence) {
  nlmsghdr header{};
  header.nlmsg_len = sizeof header + sizeof payload;
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = sequence;
  std::string bytes(header.nlmsg_len, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &payload, sizeof payload);
  return bytes;
}

struct Walk {
  Result<bool> ended;
  int messages = 0;
};

Walk walk(const std::string& datagram) {
  Bytes bytes{datagram};
  Walk result{false, 0};
  result.ended = probes::walk_datagram(bytes.span(), test::kSequence, [&](nlmsghdr&) {
    ++result.messages;
    return Result<void>{};
  });
  return result;
}

constexpr std::uint16_t kData = 100;

}  // namespace

TEST_CASE("an answer ends with its only message, or with NLMSG_DONE") {
  CHECK(walk(message(kData, 0, 1)).ended == true);
  const Walk part = walk(message(kData, NLM_F_MULTI, 1) + message(kData, NLM_F_MULTI, 2));
  CHECK(part.ended == false);
  CHECK(part.messages == 2);
  const Walk whole = walk(message(kData, NLM_F_MULTI, 1) + message(NLMSG_DONE, NLM_F_MULTI, 0));
  CHECK(whole.ended == true);
  CHECK(whole.messages == 1);
  CHECK(walk("").ended == false);
}

TEST_CASE("the kernel's errno is kept") {
  for (const std::uint16_t type : {std::uint16_t{NLMSG_ERROR}, std::uint16_t{NLMSG_DONE}}) {
    const Walk refused = walk(message(type, 0, -ENODEV));
    REQUIRE_FALSE(refused.ended);
    CHECK(refused.ended.error().code == ENODEV);
  }
  // An acknowledgement.
  CHECK(walk(message(NLMSG_ERROR, 0, 0)).ended == true);
}

TEST_CASE("a dump that changed under way is no answer") {
  const Walk interrupted = walk(message(kData, NLM_F_MULTI | NLM_F_DUMP_INTR, 1));
  REQUIRE_FALSE(interrupted.ended);
  CHECK(interrupted.ended.error().code == EINTR);
}

TEST_CASE("an answer to another question is passed over") {
  const Walk other = walk(message(kData, 0, 1, test::kSequence + 1) +
                          message(NLMSG_ERROR, 0, -EPERM, test::kSequence + 1));
  CHECK(other.ended == false);
  CHECK(other.messages == 0);
}

TEST_CASE("bytes that are no messages are an error") {
  const std::string good = message(kData, NLM_F_MULTI, 1);
  std::string too_long = good;
  too_long[0] = 21;
  std::string too_short = good;
  too_short[0] = 15;
  std::string empty = good;
  empty[0] = 0;
  for (const std::string& bad : {good.substr(0, 3), good.substr(0, 19), good + "x", too_long,
                                 too_short, empty, std::string(64, '\xff')}) {
    const Walk walked = walk(bad);
    REQUIRE_FALSE(walked.ended);
    CHECK(walked.ended.error().code == EBADMSG);
  }
  CHECK_FALSE(walk(message(NLMSG_ERROR, 0, -1).replace(0, 1, 1, '\x10').substr(0, 16)).ended);
}

TEST_CASE("what the taker refuses ends the walk") {
  Bytes bytes{message(kData, NLM_F_MULTI, 1) + message(kData, NLM_F_MULTI, 2)};
  int taken = 0;
  const auto ended =
      probes::walk_datagram(bytes.span(), test::kSequence, [&](nlmsghdr&) -> Result<void> {
        ++taken;
        return fail(EBADMSG, "reading", "it");
      });
  REQUIRE_FALSE(ended);
  CHECK(taken == 1);
}

TEST_CASE("a protocol the kernel does not speak keeps its errno") {
  const auto socket = probes::NetlinkSocket::open(31);
  REQUIRE_FALSE(socket);
  CHECK(socket.error().code == EPROTONOSUPPORT);
}
