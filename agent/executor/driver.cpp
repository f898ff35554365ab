#include "agent/executor/driver.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "agent/base/handle.hpp"
#include "agent/executor/event_queue.hpp"
#include "agent/executor/uverbs_access.hpp"

namespace pvrdma::executor {

namespace {

constexpr const char* kDriver = "/sys/bus/pci/drivers/vmw_pvrdma";
constexpr const char* kNoOverride = "(null)";

Result<void> tell_driver(const Root& root, const char* file, const std::string& function) {
  return write_attribute(root / kDriver / file, function);
}

std::filesystem::path override_of(const Root& root, const std::string& function) {
  return root / "/sys/bus/pci/devices" / function / "driver_override";
}

bool has_driver(const Root& root, const std::string& function) {
  const auto driver = link_target_name(root / "/sys/bus/pci/devices" / function / "driver");
  return driver && *driver == kDriverModule;
}

Report bind_again(const Root& root, const std::string& function) {
  Report report = bind_function(root, function);
  if (report.good()) return done();
  const std::string first = report.detail;
  report = bind_function(root, function);
  if (report.good())
    report = {Outcome::Done, "bound at the second try; the first failed: " + first, 0, {}};
  else
    report.detail = function + " was unbound and could not be bound again: " + report.detail;
  return report;
}

// A refusal, with what went wrong in opening the node again.
Rebind refused_at(UverbsAccess* access, Report report) {
  if (access != nullptr) {
    if (auto opened = access->open(); !opened)
      report.detail += "; and its verbs node stays closed: " + opened.error().message();
  }
  return {std::move(report), false};
}

}  // namespace

Field<std::string> verbs_node_name(const Root& root, const std::string& function) {
  auto names = list_directory(root / "/sys/bus/pci/devices" / function / "infiniband_verbs");
  if (!names) return Field<std::string>::from(fail(std::move(names.error())));
  for (std::string& name : *names)
    if (name.rfind("uverbs", 0) == 0) return std::move(name);
  return {};
}

Result<void> write_attribute(const std::filesystem::path& path, const std::string& text) {
  const Fd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!fd) return fail(errno, "opening", path);
  ssize_t put = 0;
  do put = ::write(fd.get(), text.data(), text.size());
  while (put < 0 && errno == EINTR);
  if (put < 0) return fail(errno, "writing " + text + " to", path);
  return {};
}

Result<void> hold_back(const Root& root, const std::string& function) {
  return write_attribute(override_of(root, function), kHeldBack);
}

Result<void> clear_driver_override(const Root& root, const std::string& function) {
  const auto name = read_attribute(override_of(root, function));
  if (!name || *name != kHeldBack) return {};
  return write_attribute(override_of(root, function), "\n");
}

bool may_be_probed(const Root& root, const std::string& function) {
  const auto name = read_attribute(override_of(root, function));
  return !name || name->empty() || *name == kNoOverride || *name == kHeldBack ||
         *name == kDriverModule;
}

Report bind_function(const Root& root, const std::string& function) {
  if (const auto free = clear_driver_override(root, function); !free) return failed(free.error());
  if (has_driver(root, function)) return already_done(function + " is bound to vmw_pvrdma");
  if (const auto quiet = await_event_queue(root); !quiet) return failed(quiet.error());
  const auto told = tell_driver(root, "bind", function);
  if (told) return done();
  Report report = failed(told.error());
  if (report.code == ENODEV)
    report.detail += ": the driver's probe gave up; the kernel log tells why";
  return report;
}

Rebind rebind_function(const Root& root, const std::string& function,
                       const std::filesystem::path& access_memo,
                       const std::function<std::optional<Report>()>& refused_now) {
  const auto node = verbs_node_name(root, function);
  if (node.is_unreadable()) return {failed(*node.error()), false};
  std::optional<UverbsAccess> access;
  if (node.is_known()) {
    auto closed = UverbsAccess::close(root / "/dev/infiniband" / *node.get(), access_memo);
    if (!closed) return {failed(closed.error()), false};
    access.emplace(std::move(*closed));
  }
  UverbsAccess* const closed_access = access ? &*access : nullptr;
  if (auto refused = refused_now()) return refused_at(closed_access, std::move(*refused));
  if (auto told = tell_driver(root, "unbind", function); !told)
    return refused_at(closed_access, failed(told.error()));
  if (access) access->gone();
  return {bind_again(root, function), true};
}

}  // namespace pvrdma::executor
