// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/port_query.hpp"

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

// The wait for an answer that may have come meanwhile.
constexpr Milliseconds kGlance{20};

// Rounds down to `first` doubled some times, so that a text with this time changes seldom.
Milliseconds rounded_down(Milliseconds time, Milliseconds first) {
  Milliseconds rounded = first;
  while (2 * rounded <= time) rounded *= 2;
  return rounded;
}

}  // namespace

Result<PortAnswer> parse_port_answer(std::string_view line) {
  const std::string_view whole = cut(line, '\n');
  PortAnswer answer;
  std::optional<PortState> state;
  for (std::string_view rest = whole; !rest.empty();) {
    std::string_view value = cut(rest, ' ');
    const std::string_view key = cut(value, '=');
    if (key == "state") state = from_word<PortState>(value);
    if (key == "active_mtu") answer.active_mtu = number_from<unsigned>(value).value_or(0);
  }
  if (!state || answer.active_mtu == 0)
    return fail(EBADMSG, "reading the answer of port-query", std::string{whole});
  answer.state = *state;
  return answer;
}

Result<PortAnswer> PortQuery::ask(const std::string& device) {
  const BootTime now = BootClock::now();
  const bool is_new = open_.count(device) == 0;
  if (is_new) {
    // An empty environment, so that the daemon's cannot change the behaviour of libibverbs.
    auto started = RunningProgram::start(
        {.words = {program_, device}, .environment = std::vector<std::string>{}});
    if (!started) return fail(started.error());
    open_.emplace(device, Question{std::move(*started), now});
  }
  Question& question = open_.at(device);
  const BootTime deadline = now + (is_new ? patience_ : kGlance);
  bool ended = question.program.await(deadline);
  // The program must run to its end, so what exceeds the limit of its output is thrown away.
  while (!ended && question.program.result().ended == Ended::Flooded)
    ended = question.program.await(deadline);
  ProgramResult result = question.program.result();
  if (!ended && result.ended == Ended::TimedOut)
    return fail(ETIMEDOUT, "querying port 1 of",
                device + ", which has not answered for more than " +
                    in_seconds(rounded_down(BootClock::now() - question.asked, patience_)) + " s");
  open_.erase(device);
  return output_of(std::move(result), "querying port 1 of", device).and_then(parse_port_answer);
}

}  // namespace pvrdma::probes
