// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/memlock.hpp"

#include <sys/resource.h>
#include <systemd/sd-bus.h>

#include <linux/capability.h>
#include <algorithm>
#include <cerrno>
#include <limits>
#include <vector>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/tools/survey/unit_files.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kLimits = "/etc/security/limits.conf";
constexpr const char* kLimitsFolder = "/etc/security/limits.d";
constexpr const char* kFirstProcess = "/proc/1/limits";
constexpr std::uint64_t kKiB = 1024;

// limits.conf(5): a number of KiB; "-1", "unlimited" and "infinity" mean no limit.
std::optional<MemlockLimit> limit_from(std::string_view value) {
  if (value == "-1" || value == "unlimited" || value == "infinity") return MemlockLimit{};
  const auto kib = number_from<std::uint64_t>(value);
  if (!kib) return std::nullopt;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return MemlockLimit{*kib > kMost / kKiB ? kMost : *kib * kKiB};
}

Result<std::vector<std::string>> limit_files(const Root& root) {
  std::vector<std::string> files{kLimits};
  const auto names = list_directory(root / kLimitsFolder);
  if (!names && !means_absent(names.error())) return fail(names.error());
  for (const std::string& name : names.value_or(std::vector<std::string>{}))
    if (name.ends_with(".conf")) files.push_back(std::string{kLimitsFolder} + "/" + name);
  return files;
}

// Debian's patch of pam_limits up to 1.5 (027_pam_limits_better_init_allow_explicit_root) makes it
// begin with the limits of PID 1, as its option set_all does; so does that of Ubuntu up to 24.04.
bool begins_with_first_process(const Root& root) {
  const auto release = os_release(root);
  if (const OsRelease* os = release.get()) {
    std::string_view version = os->version;
    const auto major = number_from<unsigned>(cut(version, '.'));
    if (major && ((os->id == "debian" && *major < 13) || (os->id == "ubuntu" && *major < 25)))
      return true;
  }
  // The last three are included by the first two: in Debian, and in Enterprise Linux.
  for (const char* file : {"sshd", "login", "common-session", "password-auth", "system-auth"}) {
    const std::string text = read_file(root / "/etc/pam.d" / file).value_or("");
    for (std::string_view rest = text; !rest.empty();) {
      std::string_view line = cut(rest, '\n');
      const auto words = split_at_blanks(cut(line, '#'));
      if (contains(words, "set_all") && std::ranges::any_of(words, [](std::string_view word) {
            return word.ends_with("pam_limits.so");
          }))
        return true;
    }
  }
  return false;
}

// proc(5): "unlimited" or a number of bytes.
Field<MemlockLimit> first_process_limit(std::string_view word) {
  if (word == "unlimited") return MemlockLimit{{}, kFirstProcess};
  const auto bytes = number_from<std::uint64_t>(word);
  return bytes ? Field<MemlockLimit>{MemlockLimit{*bytes, kFirstProcess}} : Field<MemlockLimit>{};
}

// pam_limits cuts the soft limit to the hard one (setup_limits() in its source).
Field<MemlockLimit> soft_limit(const Root& root, const LoginLimits& limits) {
  if (!limits.soft.is_known()) return {};
  auto hard = limits.hard.is_known() ? limits.hard : limits_without_lines(root).hard;
  if (!hard.is_known()) return hard;
  const auto bytes = [](const Field<MemlockLimit>& of) {
    return of.get()->bytes.value_or(std::numeric_limits<std::uint64_t>::max());
  };
  return bytes(hard) < bytes(limits.soft) ? hard : limits.soft;
}

// Asks systemd for the limit of a unit; org.freedesktop.systemd1(5).
Field<MemlockLimit> ask_limit(SystemBus& bus, const std::string& unit) {
  const auto object = unit_object(unit);
  if (!object) return Field<MemlockLimit>::unreadable(object.error());
  const auto load_state = unit_text(bus, *object, "Unit", "LoadState");
  if (!load_state) return Field<MemlockLimit>::unreadable(load_state.error());
  if (*load_state == "not-found") return {};
  const auto asked = bus.for_questions_to(kSystemdName);
  if (!asked) return Field<MemlockLimit>::unreadable(asked.error());
  std::uint64_t bytes = 0;
  // The soft limit, as in own_memlock(): the unit's processes start with it.
  const int code = bus.noted(kSystemdName,
                             sd_bus_get_property_trivial(*asked, kSystemdName, object->c_str(),
                                                         "org.freedesktop.systemd1.Service",
                                                         "LimitMEMLOCKSoft", nullptr, 't', &bytes));
  if (code < 0)
    return Field<MemlockLimit>::unreadable({-code, "asking systemd for LimitMEMLOCK of", unit});
  // systemd's value for RLIM_INFINITY.
  if (bytes == std::numeric_limits<std::uint64_t>::max()) return MemlockLimit{};
  return MemlockLimit{bytes};
}

// Whether this process is in a user namespace of its own, such as a rootless container's: its root
// is not root for the kernel (capable(), which ib_umem_get() calls). The first namespace's map has
// one line (user_namespaces(7)).
Result<bool> has_own_users(const Root& root) {
  const auto map = read_file(root / "/proc/self/uid_map");
  if (!map && means_absent(map.error())) return false;
  if (!map) return fail(map.error());
  std::string_view rest = *map;
  const std::string first{cut(rest, '\n')};
  const auto words = split_at_blanks(first);
  return words != std::vector<std::string_view>{"0", "0", "4294967295"};
}

}  // namespace

Field<MemlockLimit> own_memlock() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
    return Field<MemlockLimit>::unreadable({errno, "reading", "the limit of locked memory"});
  if (limit.rlim_cur == RLIM_INFINITY) return MemlockLimit{};
  return MemlockLimit{limit.rlim_cur};
}

Field<bool> may_lock_all(const Root& root) {
  const auto own_users = has_own_users(root);
  if (!own_users) return Field<bool>::unreadable(own_users.error());
  if (*own_users) return false;
  const auto status = read_file(root / "/proc/self/status");
  if (!status) return Field<bool>::unreadable(status.error());
  std::string_view rest = *status;
  constexpr std::string_view kEffective = "CapEff:\t";  // proc(5): a mask in hexadecimal
  while (!rest.empty()) {
    const std::string_view line = cut(rest, '\n');
    if (!line.starts_with(kEffective)) continue;
    const auto mask = number_from<std::uint64_t>(line.substr(kEffective.size()), 16);
    if (mask) return (*mask >> CAP_IPC_LOCK & 1U) != 0;
  }
  return Field<bool>::unreadable({EBADMSG, "finding capabilities in", "/proc/self/status"});
}

void take_limits(const std::string& path, std::string_view text, LoginLimits& limits) {
  for (unsigned number = 1; !text.empty(); ++number) {
    std::string_view line = cut(text, '\n');
    const auto words = split_at_blanks(cut(line, '#'));  // the rest is a comment
    if (words.size() != 4 || words[0] != "*" || words[2] != "memlock") continue;
    auto limit = limit_from(words[3]);
    if (!limit) continue;  // pam_limits ignores it, too
    limit->place = path + ":" + std::to_string(number);
    if (words[1] == "soft" || words[1] == "-") limits.soft = *limit;
    if (words[1] == "hard" || words[1] == "-") limits.hard = *limit;
  }
}

LoginLimits limits_without_lines(const Root& root) {
  if (!begins_with_first_process(root)) return default_limits(root);
  const std::string text = read_file(root / kFirstProcess).value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = cut(rest, '\n');
    const auto words = split_at_blanks(line);
    if (line.starts_with("Max locked memory ") && words.size() > 4)
      return LoginLimits{first_process_limit(words[3]), first_process_limit(words[4])};
  }
  return {};
}

Field<MemlockLimit> login_memlock(const Root& root) {
  const auto files = limit_files(root);
  if (!files) return Field<MemlockLimit>::unreadable(files.error());
  LoginLimits found;
  for (const std::string& file : *files) {
    const auto text = read_file(root / file);
    if (!text && !means_absent(text.error())) return Field<MemlockLimit>::unreadable(text.error());
    if (text) take_limits(file, *text, found);
  }
  return soft_limit(root, found);
}

UnitMemlock unit_memlock(const std::string& unit) {
  UnitMemlock result{service_name(unit), {}};
  SystemBus bus;
  result.limit = ask_limit(bus, result.unit);
  return result;
}

}  // namespace pvrdma::probes
