// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/boots_journal.hpp"

#include <systemd/sd-journal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::ctl {

namespace {

using Journal = Handle<sd_journal, sd_journal_close>;

constexpr const char* kAgentUnit = "_SYSTEMD_UNIT=pvrdma-agent.service";
constexpr const char* kExecutorUnit = "_SYSTEMD_UNIT=pvrdma-agent-executor.service";
// Longer than any name that the agent logs.
constexpr std::size_t kFieldAtMost = 128;
// An agent that is started again and again logs its steps each time. Only the first of a boot
// count.
constexpr int kEntriesOfBoot = 2000;
constexpr int kEntriesInAll = 20'000;

std::optional<Milliseconds> time_in(const std::string& usec) {
  // The largest integer that every reader of JSON takes.
  constexpr std::int64_t kMost = std::int64_t{1} << 53U;
  const auto number = number_from<std::int64_t>(usec);
  if (!number || *number < 0 || *number > kMost) return std::nullopt;
  return std::chrono::duration_cast<Milliseconds>(std::chrono::microseconds{*number});
}

NoAnswer trouble(const std::string& doing, int code) {
  return {"", doing + ": " + std::strerror(-code), ""};
}

// The journal that this process may read.
Answered<Journal> open_journal() {
  sd_journal* raw = nullptr;
  const int opened = sd_journal_open(&raw, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
  if (opened < 0) return tl::unexpected(trouble("opening the journal", opened));
  Journal journal{raw};
  if (sd_journal_has_persistent_files(raw) > 0 || sd_journal_has_runtime_files(raw) > 0)
    return journal;
  if (::geteuid() == 0)
    return tl::unexpected(
        NoAnswer{"", "there is no journal", "See: systemctl status systemd-journald"});
  return tl::unexpected(NoAnswer{"", "this user may not read the system's journal",
                                 "Root may, and members of the group systemd-journal or adm"});
}

// Selects entries. Matches of the same field are alternatives; different fields must all match.
int select(sd_journal* journal, const std::vector<std::string>& matches) {
  sd_journal_flush_matches(journal);
  for (const std::string& match : matches)
    if (const int added = sd_journal_add_match(journal, match.data(), match.size()); added < 0)
      return added;
  return 0;
}

int select_steps(sd_journal* journal, const std::string& boot_id) {
  std::vector<std::string> matches{"_BOOT_ID=" + boot_id, kAgentUnit, kExecutorUnit};
  for (const auto& [kind, word] : kWordsOf<StepKind>)
    matches.push_back(std::string{"PVRDMA_STEP="} + word);
  return select(journal, matches);
}

std::string field_of(sd_journal* journal, const char* name) {
  const void* data = nullptr;
  std::size_t size = 0;
  if (sd_journal_get_data(journal, name, &data, &size) < 0) return {};
  const std::string_view field{static_cast<const char*>(data), size};
  return std::string{field.substr(std::min(field.size(), std::strlen(name) + 1))};
}

// When the boot began, computed from the times of the current entry.
std::string beginning(sd_journal* journal) {
  std::uint64_t wall = 0;
  std::uint64_t monotonic = 0;
  sd_id128_t boot{};
  if (sd_journal_get_realtime_usec(journal, &wall) < 0 ||
      sd_journal_get_monotonic_usec(journal, &monotonic, &boot) < 0)
    return {};
  return wall_time(BootTime{}, Moment{from_ms(static_cast<std::int64_t>(monotonic / 1000)),
                                      Milliseconds{wall / 1000}});
}

// The ids of the newest boots in which an adapter was seen.
Answered<std::vector<std::string>> find_boots(sd_journal* journal) {
  int state = select(journal, {"PVRDMA_STEP=adapter_seen", kAgentUnit});
  if (state >= 0) state = sd_journal_seek_tail(journal);
  std::vector<std::string> ids;
  for (int entry = 0; state >= 0 && entry < kEntriesInAll && ids.size() < kBootsAtMost; ++entry) {
    state = sd_journal_previous(journal);
    if (state <= 0) break;
    std::uint64_t monotonic = 0;
    sd_id128_t boot{};
    std::array<char, SD_ID128_STRING_MAX> id{};
    if (sd_journal_get_monotonic_usec(journal, &monotonic, &boot) < 0) continue;
    sd_id128_to_string(boot, id.data());
    if (!contains(ids, id.data())) ids.emplace_back(id.data());
  }
  if (state < 0) return tl::unexpected(trouble("reading the journal", state));
  return ids;
}

Answered<Timeline> read_boot(sd_journal* journal, const std::string& id) {
  Timeline boot;
  boot.boot_id = id;
  int state = select_steps(journal, id);
  if (state >= 0) state = sd_journal_seek_head(journal);
  for (int entry = 0; state >= 0 && entry < kEntriesOfBoot; ++entry) {
    state = sd_journal_next(journal);
    if (state <= 0) break;
    const std::size_t before = boot.steps.size();
    add_entry(boot, [&](const char* name) { return field_of(journal, name); });
    if (boot.steps.size() > before) boot.began = beginning(journal);
  }
  if (state < 0) return tl::unexpected(trouble("reading the journal", state));
  return boot;
}

}  // namespace

void add_entry(Timeline& boot, const FieldOf& field) {
  const auto kind = from_word<StepKind>(field("PVRDMA_STEP"));
  const auto at = time_in(field("PVRDMA_USEC_SINCE_BOOT"));
  if (!kind || !at) return;
  const bool by_executor = is_of_executor(*kind);
  Step step{*kind, field(by_executor ? "PVRDMA_TARGET" : "PVRDMA_ADAPTER"), BootTime{*at},
            std::nullopt, !field("PVRDMA_AT_OR_BEFORE").empty()};
  const std::string kernel = field("PVRDMA_KERNEL");
  if (step.subject.size() > kFieldAtMost || kernel.size() > kFieldAtMost) return;
  if (by_executor) step.took = time_in(field("PVRDMA_USEC_TOOK"));
  if (!boot.add(std::move(step))) return;
  if (!kernel.empty()) boot.kernel = kernel;
  if (const auto changes = number_from<std::uint32_t>(field("PVRDMA_PORT_CHANGES")))
    boot.port_changes = *changes;
}

Answered<JournalBoots> read_journal() {
  const auto journal = open_journal();
  if (!journal) return tl::unexpected(journal.error());
  const auto ids = find_boots(journal->get());
  if (!ids) return tl::unexpected(ids.error());
  JournalBoots found;
  found.is_volatile = sd_journal_has_persistent_files(journal->get()) == 0;
  for (const std::string& id : *ids) {
    auto boot = read_boot(journal->get(), id);
    if (!boot) return tl::unexpected(std::move(boot.error()));
    found.boots.push_back(std::move(*boot));
  }
  return found;
}

Answered<Timeline> read_this_boot() {
  sd_id128_t boot{};
  if (const int known = sd_id128_get_boot(&boot); known < 0)
    return tl::unexpected(trouble("reading the boot's id", known));
  const auto journal = open_journal();
  if (!journal) return tl::unexpected(journal.error());
  std::array<char, SD_ID128_STRING_MAX> id{};
  return read_boot(journal->get(), sd_id128_to_string(boot, id.data()));
}

}  // namespace pvrdma::ctl
