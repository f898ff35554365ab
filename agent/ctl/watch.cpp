// `watch`: a line for each change, as long as it is left running.
#include <algorithm>
#include <utility>

#include "agent/ctl/changes.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/follower.hpp"

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kWithoutLimit = std::chrono::hours{1};  // of one wait, then the next

bool print_lines(const Console& console, const std::vector<std::string>& lines) {
  const std::string time = wall_time(BootClock::now());
  std::string out;
  for (const std::string& line : lines) out += time + "  " + line + "\n";
  return out.empty() || console.print(out);
}

}  // namespace

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
    Answer<Health> health = *news ? std::move(**news) : unknown_health(news->error());
    code = exit_code(health.value.state);
    bool printed = true;
    if (settings.json) {
      printed = console.print(dumped(health.json, -1) + "\n");
    } else if (*news) {
      printed = print_lines(console, changes(last ? &*last : nullptr, health.value));
      last = std::move(health.value);
    } else {
      printed = print_lines(console, {"unknown: " + news->error().line()});
    }
    if (!printed) return kExitUnknown;
  }
}

}  // namespace pvrdma::ctl
