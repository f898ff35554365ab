// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/ping.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/mtu/command.hpp"

namespace pvrdma::ctl::pmtu {

namespace {

constexpr const char* kNoPing =
    "ping of iputils (install iputils-ping on Debian and Ubuntu, iputils on Enterprise Linux)";
constexpr const char* kNoRight =
    "ping's socket (net.ipv4.ping_group_range must hold a group of this user, or ping needs "
    "CAP_NET_RAW)";
constexpr unsigned kFirstWithProbe = 20231222;
constexpr Milliseconds kGrace{500};
constexpr Milliseconds kSoon{3000};

// The number behind a word, however the line joins them: "mtu = 1500)", "mtu: 1500"; 0: none.
unsigned number_behind(std::string_view word, std::string_view line) {
  line.remove_prefix(std::min(line.find(word), line.size()));
  line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
  return number_from<unsigned>(line.substr(0, line.find_first_not_of("0123456789"))).value_or(0);
}

// Of iputils: "ping from iputils 20221126", "ping from iputils s20190709"; 0: another's.
unsigned version_in(const std::string& output) { return number_behind("iputils", output); }

std::string first_executable(const std::vector<std::string>& folders, const char* name) {
  for (const std::string& folder : folders)
    if (std::string path = folder + "/" + name; ::access(path.c_str(), X_OK) == 0) return path;
  return {};
}

// "From 10.9.1.2 icmp_seq=1 Frag needed and DF set (mtu = 1500)",
// "From fd09:1::2 icmp_seq=1 Packet too big: mtu=1500", or that the host cannot be reached.
void note_error(std::string_view line, Reply& reply) {
  const std::string from{word_behind(split_at_blanks(line), "From")};
  if (has_part(line, "Frag needed") || has_part(line, "Packet too big")) {
    reply.fate = Fate::Refused;
    reply.router = from;
    reply.mtu = number_behind("mtu", line);
    return;
  }
  line.remove_prefix(std::min(line.find("icmp_seq="), line.size()));
  cut(line, ' ');
  reply.unreachable = from + " says: " + std::string{line};
}

}  // namespace

Result<Reply> reply_in(std::string_view output) {
  Reply reply;
  bool is_whole = false;
  for (std::string_view rest = output; !rest.empty();) {
    const std::string_view line = cut(rest, '\n');
    if (line.starts_with("PING ")) {
      std::string_view address = line.substr(std::min(line.find('('), line.size()));
      address.remove_prefix(std::min<std::size_t>(1, address.size()));
      reply.address = cut(address, ')');
    } else if (line.starts_with("From ")) {
      note_error(line, reply);
    } else if (has_part(lower(line), "message too long")) {
      reply.fate = Fate::TooLargeHere;
      reply.mtu = number_behind("mtu", line);
    } else if (const auto received = word_behind(split_at_blanks(line), "transmitted,");
               !received.empty()) {
      is_whole = true;
      if (received != "0") reply.fate = Fate::Passed;
      if (reply.fate != Fate::TooLargeHere)
        reply.sent = number_from<unsigned>(split_at_blanks(line)[0]).value_or(0);
    }
  }
  if (is_whole) return reply;
  if (has_part(output, "Operation not permitted") || has_part(output, "Permission denied"))
    return fail(EPERM, "opening", kNoRight);
  return fail(0, "ping says", output.empty() ? "nothing" : first_line(std::string{output}));
}

Result<Programs> Programs::find(const MtuOptions& options) {
  Programs found{BootClock::now() + options.timeout, options.family == AF_INET    ? "-4"
                                                     : options.family == AF_INET6 ? "-6"
                                                                                  : ""};
  found.ping_ = first_executable(options.folders, "ping");
  found.ip_ = first_executable(options.folders, "ip");
  if (found.ping_.empty()) return fail(0, "there is no", kNoPing);
  const auto version = found.run({found.ping_, "-V"}, kSoon).map(version_in);
  if (!version) return fail(version.error());
  if (*version == 0) return fail(0, found.ping_ + " is not", kNoPing);
  if (*version >= kFirstWithProbe) found.discovery_ = "probe";
  return found;
}

Result<std::string> Programs::run(std::vector<std::string> words, Milliseconds limit) const {
  Program program;
  program.words = std::move(words);
  program.environment = std::vector<std::string>{"LC_ALL=C"};
  program.output_limit_bytes = std::size_t{1} << 16U;
  program.timeout =
      std::min(std::max(deadline - BootClock::now(), Milliseconds{0}) + kGrace, limit);
  const auto result = run_program(program);
  if (!result) return fail(result.error());
  if (result->ended == Ended::Exited) return result->output;
  return fail(0, "waiting for", program.words.front() + ": not done in its time");
}

Result<Reply> Programs::ping(const std::string& host, unsigned payload, unsigned seconds) const {
  const auto left = std::chrono::floor<std::chrono::seconds>(deadline - BootClock::now()).count();
  const auto wait = std::clamp<std::int64_t>(left, 1, seconds);
  // With -w, -c counts answers. No user may ask for a shorter interval of all versions.
  std::vector<std::string> words{ping_, "-n",  "-c", "1",        "-w", std::to_string(wait),
                                 "-i",  "0.2", "-M", discovery_, "-s", std::to_string(payload)};
  if (!family_.empty()) words.push_back(family_);
  if (!interface.empty()) words.insert(words.end(), {"-I", interface});
  words.insert(words.end(), {"--", host});
  return run(std::move(words), Milliseconds::max()).and_then(reply_in);
}

std::string Programs::ip(std::vector<std::string> words) const {
  words.insert(words.begin(), {ip_, "-o"});
  return ip_.empty() ? "" : run(std::move(words), kSoon).value_or("");
}

std::string Programs::route(const std::string& address) const {
  const std::size_t scope = address.find('%');
  if (scope != std::string::npos) return address.substr(scope + 1);
  const std::string route = ip({"route", "get", address});
  return std::string{word_behind(split_at_blanks(route), "dev")};
}

Link Programs::link(const std::string& address) const {
  const std::string name = interface.empty() ? route(address) : interface;
  return {name, name.empty() ? 0 : number_behind("mtu", ip({"link", "show", "dev", name}))};
}

}  // namespace pvrdma::ctl::pmtu
