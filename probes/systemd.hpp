// systemd's word about units: by the links that it keeps, and by bounded questions over the system
// bus.
#pragma once

#include <systemd/sd-bus.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::probes {

// Whether a service runs: systemd keeps a link for each (src/core/unit.c,
// unit_export_invocation_id(), since systemd 236).
[[nodiscard]] bool service_runs(const Root& root, const std::string& service);

// Whether systemd starts a service at boot: something wants it, on disk or by a generator.
[[nodiscard]] bool service_is_enabled(const Root& root, const std::string& service);

// "slurmd" -> "slurmd.service"; with its type it stays as it is.
[[nodiscard]] std::string service_name(const std::string& unit);

// True where the unit is being started or stopped, or has a job that waits for its turn; false
// where it is active, failed, inactive with nothing to come, or unknown to systemd. Bounded: half a
// second for each of two questions. Errors: no bus (as early in a boot), no answer.
[[nodiscard]] Result<bool> unit_is_in_motion(const std::string& unit);

inline constexpr const char* kSystemdName = "org.freedesktop.systemd1";

using Bus = Handle<sd_bus, sd_bus_flush_close_unref>;
using BusMessage = Handle<sd_bus_message, sd_bus_message_unref>;

inline constexpr std::uint64_t kBusPatienceUs = 500'000;

// A call on it takes half a second at most. ENOTCONN: no bus runs; its socket stands before, and
// who connects then waits for it, however long.
[[nodiscard]] Result<Bus> open_system_bus();

// systemd's object for a unit.
[[nodiscard]] Result<std::string> unit_object(const std::string& unit);

// A property of such an object that is a text: of interface org.freedesktop.systemd1.INTERFACE.
[[nodiscard]] Result<std::string> unit_text(sd_bus* bus, const std::string& object,
                                            const char* interface, const char* property);

}  // namespace pvrdma::probes
