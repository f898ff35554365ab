#include "probes/port_query.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <vector>

#include "agent/base/program.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kAnswerBytes = 4096;
constexpr int kExitTimedOut = 124;  // port_query_main.cpp

}  // namespace

Result<PortAnswer> parse_port_answer(std::string_view line) {
  const std::string whole{line.substr(0, line.find('\n'))};
  PortAnswer answer;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (key == "state") answer.state = value;
    if (key == "phys_state") answer.phys_state = value;
    if (key == "link_layer") answer.link_layer = value;
    if (key == "active_mtu")
      std::from_chars(value.data(), value.data() + value.size(), answer.active_mtu);
  }
  if (answer.state.empty() || answer.active_mtu == 0)
    return fail(EBADMSG, "reading the answer of port-query", whole);
  return answer;
}

Result<PortAnswer> run_port_query(const std::string& program, const std::string& device,
                                  Milliseconds timeout) {
  // Nothing of the daemon's environment changes what libibverbs does.
  const auto result =
      run_program({{program, device}, std::vector<std::string>{}, timeout, kAnswerBytes});
  if (!result) return fail(result.error());
  if (result->ended == Ended::TimedOut ||
      (result->ended == Ended::Exited && result->status == kExitTimedOut))
    return fail(ETIMEDOUT, "querying port 1 of", device);
  if (result->ended != Ended::Exited || result->status != 0)
    return fail(EREMOTEIO, "querying port 1 of " + device, "(" + first_line(result->output) + ")");
  return parse_port_answer(result->output);
}

}  // namespace pvrdma::probes
