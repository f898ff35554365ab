#include "agent/tools/export/publisher.hpp"

#include <fmt/format.h>
#include <systemd/sd-id128.h>

#include <array>

#include "agent/base/program.hpp"

namespace pvrdma::exports {

namespace {

// What went wrong, in words; none: it did not.
std::optional<std::string> call(std::vector<std::string> words, Milliseconds within) {
  const std::string name = words.front();
  const auto result =
      run_program({.words = std::move(words), .environment = {}, .timeout = within});
  if (!result) return result.error().message();
  if (result->ended == Ended::Exited && result->status == 0) return std::nullopt;
  if (result->ended == Ended::TimedOut)
    return fmt::format("{}: no answer within {} s", name, in_seconds(within));
  return fmt::format("{}: status {}: {}", name, result->status, first_line(result->output));
}

// vmware-rpctool is refused where vmtoolsd holds the channel (open-vm-tools issue 690).
Result<void> hand_over(const std::string& text, Milliseconds within) {
  const std::string request = fmt::format("info-set {} {}", kGuestinfoKey, text);
  const auto by_rpctool = call({"vmware-rpctool", request}, within);
  if (!by_rpctool) return {};
  const auto by_tools = call({"vmtoolsd", "--cmd", request}, within);
  if (!by_tools) return {};
  return fail(0, "publishing " + std::string{kGuestinfoKey}, *by_rpctool + "; " + *by_tools);
}

}  // namespace

Edition this_boot(std::uint64_t counter) {
  sd_id128_t id{};
  std::array<char, SD_ID128_STRING_MAX> text{};
  if (::sd_id128_get_boot(&id) >= 0) ::sd_id128_to_string(id, text.data());
  return {text.data(), counter, Moment::now()};
}

Result<void> Publisher::publish(const Health& health) {
  const std::string essence = guestinfo(health, {});
  const BootTime now = BootClock::now();
  if (published_at_ && essence == published_ && now - *published_at_ < heartbeat_) return {};
  auto handed = hand_over(guestinfo(health, this_boot(count_ + 1)), tool_within_);
  if (!handed) return handed;
  ++count_;
  published_ = essence;
  published_at_ = now;
  return {};
}

}  // namespace pvrdma::exports
