// SPDX-License-Identifier: GPL-2.0-or-later
// `wait` and `watch` follow the agent's health, also across restarts of the agent. `wait` ends when
// the adapters are ready, or at its time-out; then it prints what is missing, and the exit code is
// never 0. `watch` prints a line for each change, until it is interrupted.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/follower.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

// Length of one wait; another one follows.
constexpr Milliseconds kWithoutLimit = std::chrono::hours{1};
constexpr Milliseconds kProgressStep{1000};

bool reached(State state, const WaitOptions& options) {
  if (state == State::Ready || state == State::Absent) return true;
  return options.for_settled && (state == State::Degraded || state == State::Failed);
}

WithJson<Health> known(const HealthResult& news) {
  return news ? *news : unknown_health(news.error());
}

std::string reason(const HealthResult& news) {
  return news ? reason_of(news->value) : news.error().line();
}

int finish(const Settings& settings, const Console& console, const WithJson<Health>& health,
           Milliseconds taken) {
  const std::string line = std::string{to_string(health.value.state)} + ": " +
                           health.value.summary + " (after " + span(taken) + ")\n";
  const bool printed = console.print(settings.json ? dumped(health.json) + "\n" : line);
  return printed ? exit_code(health.value.state) : kExitUnknown;
}

int give_up(const Settings& settings, const Console& console, const HealthResult& latest,
            const WaitOptions& options) {
  const WithJson<Health> health = known(latest);
  if (settings.json) {
    console.print(dumped(health.json) + "\n");
  } else {
    const std::string goal = options.for_settled ? "settled" : "ready";
    console.complain("not " + goal + " after " + span(options.timeout) + " (" +
                     to_string(health.value.state) + "): " + reason(latest));
    // reason() already contains the remedy where there is no answer.
    const Finding* worst = latest ? worst_finding(latest->value) : nullptr;
    if (worst != nullptr && !worst->remedy.empty()) console.complain("to do: " + worst->remedy);
  }
  return exit_code(health.value.state);
}

bool print_lines(const Console& console, const std::vector<std::string>& lines) {
  const std::string time = wall_time(BootClock::now());
  std::string out;
  for (const std::string& line : lines) out += time + "  " + line + "\n";
  return out.empty() || console.print(out);
}

}  // namespace

int wait(const Settings& settings, const Console& console, const WaitOptions& options) {
  const BootTime start = BootClock::now();
  const auto elapsed = [&] { return BootClock::now() - start; };
  const bool live = console.live && !settings.json;
  Follower follower{settings.socket, settings.answer_within};
  HealthResult latest = tl::unexpected(explain({ETIMEDOUT, "", ""}, settings.socket));
  while (elapsed() < options.timeout) {
    const Milliseconds left = options.timeout - elapsed();
    auto news = follower.next(live ? std::min(left, kProgressStep) : left);
    if (news) latest = std::move(*news);
    if (const auto health = known(latest); reached(health.value.state, options)) {
      if (live) console.progress("");
      return finish(settings, console, health, elapsed());
    }
    if (live)
      console.progress("waiting " + span(elapsed()) + " of " + span(options.timeout) + ": " +
                       reason(latest));
  }
  if (live) console.progress("");
  return give_up(settings, console, latest, options);
}

int watch(const Settings& settings, const Console& console, std::optional<Milliseconds> limit) {
  const BootTime start = BootClock::now();
  Follower follower{settings.socket, settings.answer_within};
  std::optional<Health> last;
  int code = kExitUnknown;
  for (;;) {
    const Milliseconds left = limit ? *limit - (BootClock::now() - start) : kWithoutLimit;
    if (left <= Milliseconds{0}) return code;
    auto news = follower.next(left);
    if (!news) continue;
    WithJson<Health> health = known(*news);
    code = exit_code(health.value.state);
    bool printed = true;
    if (settings.json) {
      printed = console.print(dumped(health.json, -1) + "\n");
    } else if (*news) {
      printed = print_lines(console, changes(last ? &*last : nullptr, health.value));
      last = std::move(health.value);
    } else {
      printed = print_lines(console, {"unknown: " + news->error().line()});
      last.reset();  // the next health is then printed as a whole
    }
    if (!printed) return kExitUnknown;
  }
}

}  // namespace pvrdma::ctl
