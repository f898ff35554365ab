#include "probes/port_query.hpp"

#include <cerrno>
#include <vector>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kAnswerBytes = 4096;
constexpr int kExitTimedOut = 124;  // port_query_main.cpp

}  // namespace

Result<PortAnswer> parse_port_answer(std::string_view line) {
  const std::string_view whole = cut(line, '\n');
  PortAnswer answer;
  for (std::string_view rest = whole; !rest.empty();) {
    std::string_view value = cut(rest, ' ');
    const std::string_view key = cut(value, '=');
    if (key == "state") answer.state = value;
    if (key == "active_mtu") answer.active_mtu = number_from<unsigned>(value).value_or(0);
  }
  if (answer.state.empty() || answer.active_mtu == 0)
    return fail(EBADMSG, "reading the answer of port-query", std::string{whole});
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
