#include "probes/unit_state.hpp"

#include "probes/system_bus.hpp"

namespace pvrdma::probes {

namespace {

// Of its job; 0: it has none.
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

}  // namespace pvrdma::probes
