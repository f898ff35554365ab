#include "agent/config/guestinfo.hpp"

#include <string_view>

#include "agent/base/file.hpp"
#include "agent/base/text.hpp"
#include "agent/config/root_file.hpp"

namespace pvrdma {

namespace {

// The service's runtime folder, which systemd makes before it runs the program.
constexpr const char* kFolder = "/run/pvrdma-agent-guestinfo";
// A first line "config", with the TOML below it, "none", or "error REASON".
constexpr const char* kAnswer = "answer";
constexpr std::size_t kFirstLineMax = 400;

Guestinfo failed(const std::string& why) {
  constexpr std::size_t kLongest = 300;
  return {{}, std::string{kGuestinfo} + ": " + printable(why, kLongest)};
}

}  // namespace

Guestinfo read_guestinfo(const Root& root) {
  const RootedPath place = root / kFolder / kAnswer;
  const auto asked = root_has(root / kFolder);
  if (!asked) return failed(asked.error().message());
  if (!*asked) return {};
  const auto answered = root_has(place);
  if (!answered) return failed(answered.error().message());
  // Not "nothing is set": what it would have asked for may be in force from an earlier start.
  if (!*answered) return failed("cannot be read: the program that fetches it was interrupted");
  const auto answer = root_file(place, kReadLimitBytes + kFirstLineMax);
  if (!answer) return failed(answer.error().message());
  std::string_view rest = *answer ? std::string_view{**answer} : std::string_view{};
  const std::string_view first = cut(rest, '\n');
  constexpr std::string_view kError = "error ";
  if (first.starts_with(kError)) return failed(std::string{first.substr(kError.size())});
  if (first == "none") return {};
  if (first != "config") return failed("cannot be read: " + place.string() + " has another form");
  if (rest.size() > kReadLimitBytes) return failed("is larger than 1 MiB");
  return {std::string{rest}, ""};
}

bool guestinfo_used_before_upgrade(const Root& root) {
  return root_has(root / kFolder / "used-before-upgrade").value_or(false);
}

}  // namespace pvrdma
