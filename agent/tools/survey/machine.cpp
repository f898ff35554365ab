// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/machine.hpp"

#include <sys/timex.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kSecureBoot =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

// Files that contain the name of the container manager.
constexpr std::array kNamed{"/run/systemd/container", "/run/host/container-manager"};
// Files whose presence tells the container manager.
constexpr std::array kMarks{std::pair{"/.dockerenv", "docker"},
                            std::pair{"/run/.containerenv", "podman"},
                            std::pair{"/.singularity.d", "apptainer"}};

// containerd leaves no file of its own. Only in a container of a pod these places are mounts: a pod
// with the host's /dev or /run leaves files of these names on the host.
bool is_in_pod(const Root& root) {
  const std::string mounts = read_file(root / "/proc/self/mountinfo").value_or("");
  for (std::string_view rest = mounts; !rest.empty();) {
    const auto words = split_at_blanks(cut(rest, '\n'));
    constexpr std::size_t kMountPoint = 4;  // proc(5)
    if (words.size() > kMountPoint &&
        (words[kMountPoint] == "/dev/termination-log" ||
         words[kMountPoint].ends_with("/secrets/kubernetes.io/serviceaccount")))
      return true;
  }
  return false;
}

// A value of os-release without its quotes; as in a shell, a backslash quotes the next character.
std::string without_quotes(std::string_view value) {
  std::string result;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] == '"' || value[at] == '\'') continue;
    if (value[at] == '\\' && at + 1 < value.size()) ++at;
    result += value[at];
  }
  return result;
}

bool runs_in_local_time(const Root& root) {
  const auto text = read_file(root / "/etc/adjtime");
  return text && text->find("LOCAL") != std::string::npos;
}

}  // namespace

Field<std::string> container_manager(const Root& root) {
  for (const char* const path : kNamed)
    if (auto name = read_attribute(root / path); name && !name->empty()) return *name;
  for (const auto& [path, name] : kMarks)
    if (is_there(root / path).value_or(false)) return std::string{name};
  if (is_in_pod(root)) return std::string{"kubernetes"};
  // Set for the first process, and inherited by the processes that it starts.
  const char* const name = std::getenv("container");
  if (name != nullptr && *name != '\0') return std::string{name};
  return {};
}

Field<std::string> dmi(const Root& root, const char* attribute) {
  return Field<std::string>::from(
      read_attribute(root / (std::string{"/sys/class/dmi/id/"} + attribute)));
}

Field<OsRelease> parse_os_release(std::string_view text) {
  OsRelease release;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const std::string_view key = cut(line, '=');
    if (key == "ID") release.id = without_quotes(line);
    if (key == "VERSION_ID") release.version = without_quotes(line);
    if (key == "PRETTY_NAME") release.name = without_quotes(line);
    if (key == "UBUNTU_CODENAME" || (key == "VERSION_CODENAME" && release.codename.empty()))
      release.codename = without_quotes(line);
  }
  if (release.id.empty()) return {};
  if (release.name.empty()) release.name = release.id + " " + release.version;
  return release;
}

Field<OsRelease> os_release(const Root& root) {
  auto text = read_file(root / "/etc/os-release");
  if (!text && means_absent(text.error())) text = read_file(root / "/usr/lib/os-release");
  if (text) return parse_os_release(*text);
  return Field<OsRelease>::from(fail(text.error()));
}

Field<std::string> virtualization(const Root& root) {
  if (!root.is_this_system()) return {};
  SystemBus bus;
  const auto name = unit_text(bus, "/org/freedesktop/systemd1", "Manager", "Virtualization");
  if (!name) return Field<std::string>::unreadable(name.error());
  return name->empty() ? std::string{"none"} : *name;
}

Field<bool> booted_by_efi(const Root& root) {
  const auto folder = status_of(root / "/sys/firmware/efi");
  if (folder) return true;
  if (!means_absent(folder.error())) return Field<bool>::unreadable(folder.error());
  if (container_manager(root).is_known())
    return Field<bool>::unreadable(
        {0, "a container cannot see whether the machine booted by EFI", ""});
  return false;
}

Field<bool> secure_boot(const Root& root) {
  const auto efi = booted_by_efi(root);
  if (const Error* error = efi.error()) return Field<bool>::unreadable(*error);
  if (efi.is(false)) return {};
  const auto value = read_file(root / kSecureBoot);
  if (!value) return Field<bool>::unreadable(value.error());
  // Four bytes of attributes, then one byte with the value (Linux
  // Documentation/filesystems/efivarfs.rst).
  if (value->size() != 5) return Field<bool>::unreadable({EBADMSG, "reading", kSecureBoot});
  return value->back() == 1;
}

ClockState clock_state(const Root& root, std::time_t now) {
  ClockState state;
  timex clock{};
  if (::adjtimex(&clock) < 0)
    state.synchronized = Field<bool>::unreadable({errno, "asking about", "the clock"});
  else
    state.synchronized = (static_cast<unsigned>(clock.status) & STA_UNSYNC) == 0;
  if (runs_in_local_time(root)) return state;
  const auto text = read_attribute(root / "/sys/class/rtc/rtc0/since_epoch");
  const auto hardware = text ? number_from<std::int64_t>(*text) : std::nullopt;
  if (hardware)
    state.off_rtc_seconds = static_cast<std::int64_t>(now) - *hardware;
  else if (!text)
    state.off_rtc_seconds = Field<std::int64_t>::from(fail(text.error()));
  return state;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<std::string> present_mac(const Root& root, const std::string& netdev) {
  return read_attribute(root / "/sys/class/net" / netdev / "address");
}

}  // namespace pvrdma::probes
