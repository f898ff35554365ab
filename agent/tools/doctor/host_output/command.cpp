// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_output/command.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "agent/base/handle.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/local.hpp"
#include "agent/tools/doctor/survey_probe.hpp"

namespace pvrdma::ctl {

namespace {

// Opening a FIFO would wait without limit; for a pipe the user gives "-".
Result<std::string> read_regular(const std::string& path) {
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!fd) return fail(errno, "opening", path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail(errno, "looking at", path);
  if (S_ISDIR(status.st_mode)) return fail(EISDIR, "reading", path);
  if (!S_ISREG(status.st_mode))
    return fail(ESPIPE, "reading from something that is not a file (use - for a pipe)", path);
  return read_file(fd, path);
}

Result<std::string> read_standard_input(const Console& console) {
  if (::isatty(STDIN_FILENO) == 1)
    console.complain("paste the output of the ESXi host, and end it with Ctrl-D on a line alone");
  const Fd copy{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
  if (!copy) return fail(errno, "reading", "standard input");
  return read_file(copy, "standard input");
}

// Reads netlink and sysfs. After a crash of the driver, which may hold its locks for ever, the list
// is empty.
std::vector<doctor::GuestLink> guest_links(const Root& root) {
  std::vector<doctor::GuestLink> links;
  const auto crash = probes::look_for_kernel_crash(root);
  if (crash.get() != nullptr && crash.get()->in_driver) return links;
  for (const Adapter& adapter : observe_locally(root, Config{}).adapters.value_or({}))
    if (const Netdev* netdev = adapter.netdev.get()) links.push_back({netdev->name, netdev->mtu});
  return links;
}

}  // namespace

int code_of(const doctor::HostReading& reading) {
  const doctor::Weight worst =
      reading.remarks.empty() ? doctor::Weight::Unknown : reading.remarks.front().weight;
  if (worst == doctor::Weight::Change) return 1;
  return worst == doctor::Weight::Unknown || !reading.missing.empty() ? kExitUnknown : 0;
}

int host_output(const Settings& settings, const Console& console, const DoctorOptions& options) {
  const auto text =
      options.host_output == "-" ? read_standard_input(console) : read_regular(options.host_output);
  if (!text)
    return end_without(settings, console,
                       printable(text.error().message()) +
                           (text.error().code == EFBIG ? "; at most 1 MiB is read" : ""));
  const auto guest = guest_links(options.root);
  const doctor::HostReading reading = doctor::judge_host_output(*text, guest);
  const bool printed = console.print(settings.json ? dumped(host_output_json(reading, guest)) + "\n"
                                                   : render_host_output(reading, console.style()));
  return printed ? code_of(reading) : kExitUnknown;
}

}  // namespace pvrdma::ctl
