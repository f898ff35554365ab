// `wait`: until the adapters are ready, however often the agent restarts meanwhile, but never
// longer than its time. On a time-out it says what is waited for, and the exit code is never 0.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/follower.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kProgressStep{1000};

bool reached(State state, const WaitOptions& options) {
  if (state == State::Ready || state == State::Absent) return true;
  return options.for_settled && (state == State::Degraded || state == State::Failed);
}

// What is known of the agent at the moment: its last word, or why there is none.
class Latest {
 public:
  explicit Latest(Answered<Answer<Health>> news) : news_(std::move(news)) {}
  [[nodiscard]] Answer<Health> health() const {
    return news_ ? *news_ : unknown_health(news_.error());
  }
  [[nodiscard]] std::string reason() const {
    return news_ ? reason_of(news_->value) : news_.error().line();
  }
  // Of the worst finding; the reason of no answer has its own.
  [[nodiscard]] std::string remedy() const {
    const Finding* worst = news_ ? worst_finding(news_->value) : nullptr;
    return worst == nullptr ? "" : worst->remedy;
  }

 private:
  Answered<Answer<Health>> news_;
};

int finish(const Settings& settings, const Console& console, const Answer<Health>& health,
           Milliseconds taken) {
  const std::string line = std::string{to_string(health.value.state)} + ": " +
                           health.value.summary + " (after " + span(taken) + ")\n";
  const bool printed = console.print(settings.json ? dumped(health.json) + "\n" : line);
  return printed ? exit_code(health.value.state) : kExitUnknown;
}

int give_up(const Settings& settings, const Console& console, const Latest& latest,
            const WaitOptions& options) {
  const Answer<Health> health = latest.health();
  if (settings.json) {
    console.print(dumped(health.json) + "\n");
  } else {
    const std::string goal = options.for_settled ? "settled" : "ready";
    console.complain("not " + goal + " after " + span(options.timeout) + " (" +
                     to_string(health.value.state) + "): " + latest.reason());
    if (const std::string remedy = latest.remedy(); !remedy.empty())
      console.complain("to do: " + remedy);
  }
  return exit_code(health.value.state);
}

}  // namespace

int wait(const Settings& settings, const Console& console, const WaitOptions& options) {
  const BootTime start = BootClock::now();
  const auto elapsed = [&] { return BootClock::now() - start; };
  const bool live = console.live && !settings.json;
  Follower follower{settings.socket, settings.answer_within};
  Latest latest{tl::unexpected(explain({ETIMEDOUT, "", ""}, settings.socket))};
  while (elapsed() < options.timeout) {
    const Milliseconds left = options.timeout - elapsed();
    auto news = follower.next(live ? std::min(left, kProgressStep) : left);
    if (news) latest = Latest{std::move(*news)};
    if (const auto health = latest.health(); reached(health.value.state, options)) {
      if (live) console.progress("");
      return finish(settings, console, health, elapsed());
    }
    if (live)
      console.progress("waiting " + span(elapsed()) + " of " + span(options.timeout) + ": " +
                       latest.reason());
  }
  if (live) console.progress("");
  return give_up(settings, console, latest, options);
}

}  // namespace pvrdma::ctl
