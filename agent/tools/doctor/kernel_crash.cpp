// SPDX-License-Identifier: GPL-2.0-or-later
// Finds crashes that the kernel survived, in its log and its taint flags.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/doctor/survey_probe.hpp"

namespace pvrdma::probes {

namespace {

// TAINT_DIE and TAINT_SOFTLOCKUP, include/linux/panic.h
constexpr unsigned long kDied = 1UL << 7U, kLockedUp = 1UL << 14U;
constexpr std::size_t kRecordBytes = 8192;          // PRINTKRB_RECORD_MAX and CONSOLE_EXT_LOG_MAX
constexpr std::size_t kLogLimitBytes = 64U << 20U;  // the largest ring that log_buf_len allows

constexpr std::string_view kLockup = "watchdog: BUG: ";
constexpr std::array<std::string_view, 7> kStarts{"BUG: ",
                                                  "Oops: ",
                                                  "general protection fault",
                                                  "Unable to handle kernel",
                                                  "kernel BUG at",
                                                  "Internal error: ",
                                                  kLockup};
constexpr std::string_view kEnd = "---[ end trace";
// A lockup's report has no such line. Older kernels, such as 5.8, do not mark the end of its stack
// either, so there the next report ends it, also one of another kind.
constexpr std::string_view kStackEnd = "</TASK>", kNextReport = "---[ cut here ]---";
// With CONFIG_STACKTRACE_BUILD_ID a build ID follows the name.
constexpr std::string_view kInDriver = " [vmw_pvrdma";
// The first lines of reports of another kind have these words, in which a process may be named. A
// process's name is too short for any of them.
constexpr std::array<std::string_view, 3> kOtherReports{
    " invoked oom-killer: ", ": page allocation failure", " blocked for more than "};

Result<unsigned long> taint_flags(const Root& root) {
  const auto path = root / "/proc/sys/kernel/tainted";
  const auto text = read_attribute(path);
  if (!text) return fail(text.error());
  const auto flags = number_from<unsigned long>(*text);
  if (!flags) return fail(EBADMSG, "reading", path);
  return *flags;
}

// A line of a call trace: "RIP: 0010:pvrdma_poll_cq+0x3b/0x60 [vmw_pvrdma]". A process chooses its
// own name, but 15 characters are too few for all of this. The list "Modules linked in:" has names
// without brackets. A work item's function has no offset: "Workqueue: QUEUE FUNCTION [vmw_pvrdma]".
bool is_in_driver(std::string_view message) {
  const std::string_view before = message.substr(0, message.find(kInDriver));
  if (before.size() == message.size()) return false;
  const std::string_view after = message.substr(before.size() + kInDriver.size());
  if (!after.starts_with(']') && !after.starts_with(' ')) return false;
  const std::string_view place = before.substr(before.rfind(' ') + 1);
  return before.starts_with("Workqueue: ") || (has_part(place, "+0x") && has_part(place, "/0x"));
}

bool begins_other_report(std::string_view message) {
  return std::any_of(kOtherReports.begin(), kOtherReports.end(),
                     [&](std::string_view words) { return has_part(message, words); });
}

// "NAME[PID]: segfault at …": a process chooses its own name, which may read like a crash's first
// line.
bool names_process(std::string_view message) {
  for (std::size_t open = message.find('['); open < message.size();) {
    const std::size_t close = message.find_first_not_of("0123456789", open + 1);
    if (close < message.size() && close > open + 1 && message[close] == ']') return true;
    open = message.find('[', open + 1);
  }
  return false;
}

}  // namespace

Result<std::string> read_kernel_log(const Root& root) {
  const auto path = root / "/dev/kmsg";
  const auto log = open_rooted(path, O_RDONLY);  // read(2) then does not wait
  if (!log) return fail(log.error());
  std::string records;
  std::array<char, kRecordBytes> buffer{};
  while (records.size() < kLogLimitBytes) {
    // Each read(2) returns one record; EPIPE: the kernel overwrote the next record meanwhile.
    const ssize_t length = ::read(log->get(), buffer.data(), buffer.size());
    if (length > 0) records.append(buffer.data(), static_cast<std::size_t>(length));
    if (length == 0 || (length < 0 && errno == EAGAIN)) return records;
    if (length < 0 && errno != EPIPE && errno != EINTR) return fail(errno, "reading", path);
  }
  return records;
}

Field<KernelCrash> parse_kernel_log(std::string_view records) {
  Field<KernelCrash> first;
  KernelCrash crash;
  bool inside = false, of_lockup = false;
  while (!records.empty()) {
    const std::string_view record = cut(records, '\n');
    // "6,339,5140900,-;message"; a line that begins with a blank belongs to the record above.
    const std::size_t at = record.find(';');
    if (record.starts_with(' ') || at == std::string_view::npos) continue;
    const std::string_view message = record.substr(at + 1);
    if (!is_kernels(record) || names_process(message)) continue;
    if (begins_other_report(message)) {
      inside = inside && !of_lockup;
      continue;
    }
    const auto begins_so = [&](std::string_view start) { return message.starts_with(start); };
    if ((!inside || of_lockup) && std::any_of(kStarts.begin(), kStarts.end(), begins_so)) {
      inside = true;
      of_lockup = begins_so(kLockup);
      crash = {std::string{message}, false};
    }
    if (!inside) continue;
    crash.in_driver = is_in_driver(message);
    if (crash.in_driver) return crash;
    if (!first.is_known()) first = crash;
    inside = of_lockup ? !has_part(message, kStackEnd) && !has_part(message, kNextReport)
                       : !begins_so(kEnd);
  }
  return first;
}

Field<KernelCrash> look_for_kernel_crash(const Root& root) {
  const auto taint = taint_flags(root);
  if (!taint) return Field<KernelCrash>::unreadable(taint.error());
  if ((*taint & (kDied | kLockedUp)) == 0) return {};
  if (const auto log = read_kernel_log(root))
    if (auto crash = parse_kernel_log(*log); crash.is_known()) return crash;
  return (*taint & kDied) != 0 ? Field<KernelCrash>{KernelCrash{}} : Field<KernelCrash>{};
}

}  // namespace pvrdma::probes
