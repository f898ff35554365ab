#include "agent/daemon/boot_notes.hpp"

#include "agent/base/file.hpp"
#include "agent/base/machine.hpp"

namespace pvrdma {

namespace {

constexpr Milliseconds kKeepEvery{60'000};

// Of this boot; none: there is no such file.
std::optional<Timeline> read_noted(const std::filesystem::path& path, const std::string& boot_id) {
  auto noted = varlink::read_boots(path);
  if (!noted || noted->boots.empty() || noted->boots.front().boot_id != boot_id)
    return std::nullopt;
  return std::move(noted->boots.front());
}

Result<void> write_down(const std::filesystem::path& path, Timeline boot) {
  // The clock may have been set since.
  boot.began = wall_time(BootTime{});
  return replace_file(path, varlink::to_text(varlink::KeptBoots{{}, {std::move(boot)}}));
}

}  // namespace

Timeline BootNotes::resume(const std::string& boot_id, BootTime started) {
  kept_ = read_noted(places_.mark, boot_id);
  if (auto noted = read_noted(places_.this_boot, boot_id)) {
    written_ = noted->steps;
    return std::move(*noted);
  }
  Timeline boot;
  boot.boot_id = boot_id;
  boot.add({StepKind::AgentStarted, {}, started, std::nullopt, false});
  return boot;
}

bool BootNotes::is_to_be_kept(const Timeline& boot, State state, BootTime now) const {
  const bool ready = boot.find(StepKind::Ready) != nullptr;
  if (!ready && state != State::Degraded && state != State::Failed) return false;
  if (!kept_) return true;
  if (kept_->steps == boot.steps) return false;
  return ready != (kept_->find(StepKind::Ready) != nullptr) || now - kept_at_ >= kKeepEvery;
}

Result<void> BootNotes::note(const Timeline& boot, State state, BootTime now) {
  if (boot.find(StepKind::AdapterSeen) == nullptr) return {};
  if (boot.steps != written_) {
    if (auto put = write_down(places_.this_boot, boot); !put) return put;
    written_ = boot.steps;
  }
  if (!is_to_be_kept(boot, state, now)) return {};
  kept_ = boot;
  kept_at_ = now;
  return write_down(places_.mark, boot);
}

std::optional<std::vector<Timeline>> BootNotes::news_of_earlier(const Timeline& boot) {
  if (earlier_is_final_ || boot.find(StepKind::AdapterSeen) == nullptr) return std::nullopt;
  std::error_code none;
  const auto time = std::filesystem::last_write_time(places_.earlier, none);
  if (none || time == earlier_time_) return std::nullopt;
  earlier_time_ = time;
  auto read = varlink::read_boots(places_.earlier);
  if (!read || read->machine != this_machine()) return std::vector<Timeline>{};
  earlier_is_final_ = std::erase_if(read->boots, [&](const Timeline& kept) {
                        return kept.boot_id == boot.boot_id;
                      }) > 0;
  return std::move(read->boots);
}

}  // namespace pvrdma
