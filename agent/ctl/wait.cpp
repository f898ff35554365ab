// `wait`: until the adapters are ready, however often the agent restarts meanwhile, but never
// longer than its time. On a time-out it says what is waited for, and the exit code is never 0.
#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/follower.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kProgressStep{1000};

bool reached(const Json& health, const WaitOptions& options) {
  const std::string state = state_of(health);
  if (state == "ready" || state == "absent") return true;
  return options.for_settled && (state == "degraded" || state == "failed");
}

// What is known of the agent at the moment: its last word, or why there is none.
class Latest {
 public:
  explicit Latest(Answered<Json> news) : news_(std::move(news)) {}
  [[nodiscard]] Json health() const { return news_ ? *news_ : unknown_health(news_.error()); }
  [[nodiscard]] std::string reason() const {
    return news_ ? reason_of(*news_) : news_.error().line();
  }
  // Of the worst finding; the reason of no answer has its own.
  [[nodiscard]] std::string remedy() const {
    const Json* worst = news_ ? worst_finding(*news_) : nullptr;
    return worst == nullptr ? "" : text(*worst, "remedy").value_or("");
  }

 private:
  Answered<Json> news_;
};

int finish(const Settings& settings, const Console& console, const Json& health,
           Milliseconds taken) {
  const std::string line = state_of(health) + ": " + text(health, "summary").value_or("") +
                           " (after " + span(taken) + ")\n";
  const bool printed = console.print(settings.json ? dumped(health) + "\n" : line);
  return printed ? exit_code_of(health) : kExitUnknown;
}

int give_up(const Settings& settings, const Console& console, const Latest& latest,
            const WaitOptions& options) {
  const Json health = latest.health();
  if (settings.json) {
    console.print(dumped(health) + "\n");
  } else {
    const std::string goal = options.for_settled ? "settled" : "ready";
    console.complain("not " + goal + " after " + span(options.timeout) + " (" + state_of(health) +
                     "): " + latest.reason());
    if (const std::string remedy = latest.remedy(); !remedy.empty())
      console.complain("to do: " + remedy);
  }
  return exit_code_of(health);
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
    if (const Json health = latest.health(); reached(health, options)) {
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
