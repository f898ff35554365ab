// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/mesh/member.hpp"

#include <arpa/inet.h>

#include <array>
#include <cerrno>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/tools/verify/peer/verdict.hpp"

namespace pvrdma::verify {

namespace {

constexpr Milliseconds kSoon = std::chrono::seconds{10};

constexpr std::size_t kNameAtMostBytes = 255;

// Only an address from the network may get onto a program's command line.
bool is_address(const std::string& text) {
  // inet_pton() stops at a NUL.
  if (text.find('\0') != std::string::npos) return false;
  std::array<unsigned char, sizeof(in6_addr)> binary{};
  return ::inet_pton(AF_INET, text.c_str(), binary.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), binary.data()) == 1;
}

// Runs `pvrdma-agentctl mtu`, which is this same program.
std::optional<double> mtu_to(const std::string& address) {
  const Program program{{"/proc/self/exe", "--json", "mtu", address, "--timeout",
                         std::to_string(kMtuLimit.count()) + "ms"},
                        std::nullopt,
                        kMtuLimit + kSoon};
  const auto run = run_program(program);
  if (!run || run->ended != Ended::Exited) return std::nullopt;
  const Json found = Json::parse(run->output, nullptr, false);
  if (!found.is_object()) return std::nullopt;
  const auto mtu = found.find("minimum_mtu_bytes");
  return mtu != found.end() && mtu->is_number() ? std::optional{mtu->get<double>()} : std::nullopt;
}

std::optional<std::string> failure_in(const Result<Json>& answer) {
  if (!answer) return answer.error().message();
  const auto failed = answer->find("failed");
  if (failed == answer->end()) return std::nullopt;
  const std::string message = text_in(*failed, "message");
  return message.empty() ? "pvrdma-verify failed" : message;
}

// The message is cut, because a line of the connection has a size limit.
Json failure(const std::string& message) {
  constexpr std::size_t kMessageAtMostBytes = 500;
  return {{"failed", message.substr(0, kMessageAtMostBytes)}};
}

// `peer` empty: the other machine of the pair measures, and this one listens.
Json take_turn(const ctl::Helper& helper, const std::string& peer) {
  const auto answer = peer.empty() ? helper.listen(kPairWait) : helper.connect(peer, kPairWait);
  if (const auto failed = failure_in(answer)) return failure(*failed);
  if (peer.empty()) return {{"served", true}};
  const auto figures = figures_from(*answer);
  if (!figures) return failure(figures.error().message());
  const PairFigures summary{figures->latency.front().typical_us,
                            figures->latency.front().p99_us,
                            figures->out_mb_s,
                            figures->in_mb_s,
                            figures->both_mb_s,
                            figures->messages_per_s,
                            figures->tcp_latency_us,
                            figures->tcp_bandwidth_mb_s,
                            mtu_to(peer)};
  return {{"figures", verify::to_json(summary)}};
}

}  // namespace

Json join_message(const Machine& machine) { return {{"mesh", verify::to_json(machine)}}; }

Result<Machine> machine_from(const Json& message) {
  const auto at = message.find("mesh");
  if (at == message.end() || !at->is_object())
    return fail(EBADMSG, "joining", "a machine: it runs no verify mesh");
  Machine machine{text_in(*at, "name"), text_in(*at, "address"), text_in(*at, "device"),
                  mac_address(text_in(*at, "mac")).value_or("")};
  if (machine.name.empty() || !is_address(machine.address))
    return fail(EBADMSG, "joining", "a machine: it has no name or no address");
  // Other programs read these texts in files.
  for (const std::string& text : {machine.name, machine.device})
    if (printable(text) != text || text.size() > kNameAtMostBytes)
      return fail(EBADMSG, "joining",
                  "a machine: " + printable(text, kNameAtMostBytes) +
                      " cannot be a machine's or device's name");
  return machine;
}

Result<std::string> address_in_mesh(const std::string& adapters, const std::string& device) {
  if (!adapters.empty()) return adapters;
  return fail(0, "verify mesh needs an address of the adapter:",
              "the only GIDs of " + device + " are link-local ones of IPv6");
}

Milliseconds round_limit(const ctl::Helper& helper) {
  return helper.limit(kPairWait) + kMtuLimit + kSoon;
}

Milliseconds patience_of(const ctl::Helper& helper, Milliseconds all_come, std::size_t rounds) {
  return all_come + static_cast<Milliseconds::rep>(rounds + 1) * round_limit(helper);
}

Result<unsigned> take_part(Control& control, const ctl::Helper& helper, Milliseconds patience) {
  const std::string name = probes::host_name();
  const Json join = join_message(
      {name.empty() ? "?" : name, helper.own_address(), helper.device(), helper.mac()});
  if (auto sent = control.send(join, BootClock::now() + kSoon); !sent) return fail(sent.error());
  for (unsigned measured = 0;; ++measured) {
    const auto asked = control.receive(BootClock::now() + patience);
    if (!asked) return fail(asked.error());
    if (asked->contains("end")) return measured;
    if (const std::string refused = text_in(*asked, "refused"); !refused.empty())
      return fail(0, "joining the mesh:", refused);
    const std::string peer = text_in(*asked, "connect");
    if (peer.empty() && !asked->contains("listen"))
      return fail(EBADMSG, "reading", "what to measure");
    if (!peer.empty() && !is_address(peer)) return fail(EBADMSG, "reading", "the peer's address");
    const Json answer = take_turn(helper, peer);
    if (auto sent = control.send(answer, BootClock::now() + kSoon); !sent)
      return fail(sent.error());
  }
}

}  // namespace pvrdma::verify
