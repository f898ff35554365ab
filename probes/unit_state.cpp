#include "probes/unit_state.hpp"

#include <systemd/sd-bus.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "agent/base/handle.hpp"
#include "probes/link_owner.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr const char* kUnit = "org.freedesktop.systemd1.Unit";
constexpr std::uint64_t kPatienceUs = 500'000;

using Bus = Handle<sd_bus, sd_bus_flush_close_unref>;
using Message = Handle<sd_bus_message, sd_bus_message_unref>;
using Text = Handle<char, std::free>;

// org.freedesktop.systemd1(5): "activating", "active", …
Result<std::string> active_state(sd_bus* bus, const char* object, const std::string& unit) {
  char* made = nullptr;
  const int code =
      sd_bus_get_property_string(bus, kSystemd, object, kUnit, "ActiveState", nullptr, &made);
  const Text state{made};
  if (code < 0) return fail(-code, "asking systemd for the state of", unit);
  return std::string{state.get()};
}

// Of its job; 0: it has none.
Result<std::uint32_t> job_of(sd_bus* bus, const char* object, const std::string& unit) {
  sd_bus_message* made = nullptr;
  int code = sd_bus_get_property(bus, kSystemd, object, kUnit, "Job", nullptr, &made, "(uo)");
  const Message answer{made};
  std::uint32_t job = 0;
  const char* path = nullptr;
  if (code >= 0) code = sd_bus_message_read(answer.get(), "(uo)", &job, &path);
  if (code < 0) return fail(-code, "asking systemd for the job of", unit);
  return job;
}

}  // namespace

Result<bool> unit_is_in_motion(const std::string& unit) {
  // Its socket stands before it runs, and who connects then waits for it, however long.
  const Root root;
  if (!service_runs(root, "dbus.service") && !service_runs(root, "dbus-broker.service"))
    return fail(ENOTCONN, "asking systemd, as no message bus runs yet, about", unit);
  sd_bus* opened = nullptr;
  if (const int code = sd_bus_open_system(&opened); code < 0)
    return fail(-code, "connecting to", "the system bus");
  const Bus bus{opened};
  sd_bus_set_method_call_timeout(bus.get(), kPatienceUs);
  char* made = nullptr;
  if (const int code = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &made);
      code < 0)
    return fail(-code, "naming", unit);
  const Text object{made};
  // The job first: one that begins in between shows as a state.
  const auto job = job_of(bus.get(), object.get(), unit);
  if (!job) return fail(job.error());
  if (*job != 0) return true;
  const auto state = active_state(bus.get(), object.get(), unit);
  if (!state) return fail(state.error());
  return *state == "activating" || *state == "deactivating" || *state == "reloading";
}

}  // namespace pvrdma::probes
