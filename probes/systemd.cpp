#include "probes/systemd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace pvrdma::probes {

namespace {

using BusText = Handle<char, std::free>;

bool is_link(const RootedPath& place) {
  const auto status = status_of(place, FinalLink::Shown);
  return status && S_ISLNK(status->st_mode);
}

// Of a unit's job; 0: it has none.
Result<std::uint32_t> job_of(sd_bus* bus, const std::string& object, const std::string& unit) {
  sd_bus_message* made = nullptr;
  int code = sd_bus_get_property(bus, kSystemdName, object.c_str(), "org.freedesktop.systemd1.Unit",
                                 "Job", nullptr, &made, "(uo)");
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

bool service_is_enabled(const Root& root, const std::string& service) {
  // netplan's generator writes to the third, since 1.2 to the fourth.
  constexpr std::array kPlaces{"/etc/systemd/system/multi-user.target.wants",
                               "/etc/systemd/system/network.target.wants",
                               "/run/systemd/generator/multi-user.target.wants",
                               "/run/systemd/generator.late/multi-user.target.wants",
                               "/run/systemd/system/multi-user.target.wants",
                               "/usr/lib/systemd/system/multi-user.target.wants"};
  return std::any_of(kPlaces.begin(), kPlaces.end(),
                     [&](const char* place) { return is_link(root / place / service); });
}

std::string service_name(const std::string& unit) {
  return unit.find('.') == std::string::npos ? unit + ".service" : unit;
}

Result<bool> unit_is_in_motion(const std::string& unit) {
  const auto bus = open_system_bus();
  if (!bus) return fail(bus.error());
  const auto object = unit_object(unit);
  if (!object) return fail(object.error());
  // The job first: one that begins in between shows as a state.
  const auto job = job_of(bus->get(), *object, unit);
  if (!job) return fail(job.error());
  if (*job != 0) return true;
  // org.freedesktop.systemd1(5): "activating", "active", …
  const auto state = unit_text(bus->get(), *object, "Unit", "ActiveState");
  if (!state) return fail(state.error());
  return *state == "activating" || *state == "deactivating" || *state == "reloading";
}

Result<Bus> open_system_bus() {
  const Root root;
  if (!service_runs(root, "dbus.service") && !service_runs(root, "dbus-broker.service"))
    return fail(ENOTCONN, "connecting to", "the system bus, as none runs yet");
  sd_bus* opened = nullptr;
  if (const int code = sd_bus_open_system(&opened); code < 0)
    return fail(-code, "connecting to", "the system bus");
  Bus bus{opened};
  sd_bus_set_method_call_timeout(bus.get(), kBusPatienceUs);
  return bus;
}

Result<std::string> unit_object(const std::string& unit) {
  char* made = nullptr;
  const int code = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &made);
  const BusText object{made};
  if (code < 0) return fail(-code, "naming", unit);
  return std::string{object.get()};
}

Result<std::string> unit_text(sd_bus* bus, const std::string& object, const char* interface,
                              const char* property) {
  char* made = nullptr;
  const std::string name = std::string{kSystemdName} + "." + interface;
  const int code = sd_bus_get_property_string(bus, kSystemdName, object.c_str(), name.c_str(),
                                              property, nullptr, &made);
  const BusText text{made};
  if (code < 0)
    return fail(-code, std::string{"asking systemd for the "} + property + " of", object);
  return std::string{text.get()};
}

}  // namespace pvrdma::probes
