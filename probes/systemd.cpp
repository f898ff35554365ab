// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/systemd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace pvrdma::probes {

namespace {

using BusText = Handle<char, std::free>;

bool is_link(const RootedPath& place) {
  const auto status = status_of(place, FinalLink::Shown);
  return status && S_ISLNK(status->st_mode);
}

// The id of a unit's job; 0: the unit has none.
Result<std::uint32_t> job_of(SystemBus& bus, const std::string& object, const std::string& unit) {
  const auto asked = bus.for_questions_to(kSystemdName);
  if (!asked) return fail(asked.error());
  sd_bus_message* made = nullptr;
  int code = bus.noted(kSystemdName, sd_bus_get_property(*asked, kSystemdName, object.c_str(),
                                                         "org.freedesktop.systemd1.Unit", "Job",
                                                         nullptr, &made, "(uo)"));
  const BusMessage answer{made};
  std::uint32_t job = 0;
  const char* path = nullptr;
  if (code >= 0) code = sd_bus_message_read(answer.get(), "(uo)", &job, &path);
  if (code < 0) return fail(-code, "asking systemd for the job of", unit);
  return job;
}

}  // namespace

bool service_runs(const Root& root, const std::string& service) {
  return is_link(root / ("/run/systemd/units/invocation:" + service));
}

bool is_masked(const Root& root, const std::string& service) {
  // systemd-debug-generator writes to the third place what systemd.mask= on the kernel's command
  // line names.
  constexpr std::array kPlaces{"/etc/systemd/system", "/run/systemd/system",
                               "/run/systemd/generator.early"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](const char* place) {
    return link_target_name(root / place / service).value_or("") == "null";
  });
}

bool service_is_enabled(const Root& root, const std::string& service) {
  if (is_masked(root, service)) return false;
  // netplan's generator writes to the third place, since netplan 1.2 to the fourth.
  constexpr std::array kPlaces{"/etc/systemd/system/multi-user.target.wants",
                               "/etc/systemd/system/network.target.wants",
                               "/run/systemd/generator/multi-user.target.wants",
                               "/run/systemd/generator.late/multi-user.target.wants",
                               "/run/systemd/system/multi-user.target.wants",
                               "/usr/lib/systemd/system/multi-user.target.wants"};
  // Debian leaves the link of a package that was removed and not purged; it leads nowhere.
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](const char* place) {
    return is_there(root / place / service).value_or(false);
  });
}

std::string service_name(const std::string& unit) {
  return unit.find('.') == std::string::npos ? unit + ".service" : unit;
}

Result<bool> unit_is_in_motion(SystemBus& bus, const std::string& unit) {
  const auto object = unit_object(unit);
  if (!object) return fail(object.error());
  // Reads the job first: a job that starts after that shows in the state.
  const auto job = job_of(bus, *object, unit);
  if (!job) return fail(job.error());
  if (*job != 0) return true;
  // org.freedesktop.systemd1(5): "activating", "active", …
  const auto state = unit_text(bus, *object, "Unit", "ActiveState");
  if (!state) return fail(state.error());
  return *state == "activating" || *state == "deactivating" || *state == "reloading";
}

Result<SystemBus::Connection> SystemBus::connect() const {
  constexpr const char* kDoing = "connecting to";
  constexpr const char* kBus = "the system bus";
  if (!service_runs(root_, "dbus.service") && !service_runs(root_, "dbus-broker.service"))
    return fail(ENOTCONN, kDoing, "the system bus, as none runs yet");
  const BootTime deadline = BootClock::now() + kBusPatience;
  sd_bus* opened = nullptr;
  if (const int code = sd_bus_open_system(&opened); code < 0) return fail(-code, kDoing, kBus);
  Connection bus{opened};
  // Waits for the bus's greeting here, as the first call would wait for it with libsystemd's
  // time-out of 90 s (src/libsystemd/sd-bus/sd-bus.c, bus_ensure_running()).
  for (int ready = 0; (ready = sd_bus_is_ready(bus.get())) <= 0;) {
    int code = ready < 0 ? ready : sd_bus_process(bus.get(), nullptr);
    const std::chrono::microseconds left = deadline - BootClock::now();
    if (code >= 0 && left.count() <= 0) code = -ETIMEDOUT;
    if (code == 0) code = sd_bus_wait(bus.get(), static_cast<std::uint64_t>(left.count()));
    if (code < 0 && code != -EINTR) return fail(-code, kDoing, kBus);
  }
  const std::chrono::microseconds patience = kBusPatience;
  sd_bus_set_method_call_timeout(bus.get(), static_cast<std::uint64_t>(patience.count()));
  return bus;
}

Result<sd_bus*> SystemBus::for_questions_to(const std::string& name) {
  if (silent_.count(name) > 0) return fail(ETIMEDOUT, "waiting for an answer of", name);
  if (!connection_) connection_ = connect();
  if (!*connection_) return fail(connection_->error());
  return (*connection_)->get();
}

int SystemBus::noted(const std::string& name, int code) {
  if (code == -ETIMEDOUT) silent_.insert(name);
  return code;
}

Result<std::string> unit_object(const std::string& unit) {
  char* made = nullptr;
  const int code = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &made);
  const BusText object{made};
  if (code < 0) return fail(-code, "naming", unit);
  return std::string{object.get()};
}

Result<std::string> unit_text(SystemBus& bus, const std::string& object, const char* interface,
                              const char* property) {
  const auto asked = bus.for_questions_to(kSystemdName);
  if (!asked) return fail(asked.error());
  char* made = nullptr;
  const std::string name = std::string{kSystemdName} + "." + interface;
  const int code =
      bus.noted(kSystemdName, sd_bus_get_property_string(*asked, kSystemdName, object.c_str(),
                                                         name.c_str(), property, nullptr, &made));
  const BusText text{made};
  if (code < 0)
    return fail(-code, std::string{"asking systemd for the "} + property + " of", object);
  return std::string{text.get()};
}

}  // namespace pvrdma::probes
