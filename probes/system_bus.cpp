#include "probes/system_bus.hpp"

#include <cerrno>

#include "agent/base/file.hpp"
#include "probes/link_owner.hpp"

namespace pvrdma::probes {

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
