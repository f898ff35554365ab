// SPDX-License-Identifier: GPL-2.0-or-later
// systemd's word about units: by the links that it keeps, and by bounded questions over the system
// bus.
#pragma once

#include <systemd/sd-bus.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agent/base/clock.hpp"
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

inline constexpr const char* kSystemdName = "org.freedesktop.systemd1";

using BusMessage = Handle<sd_bus_message, sd_bus_message_unref>;

// How long an answer is waited for, the bus daemon's own word of welcome included.
inline constexpr Milliseconds kBusPatience{500};

// The system bus for the length of one look: connected to at its first question, once, and asked
// nothing more where it was not there in time. So a bus daemon, or a service, that hangs costs a
// look half a second, however many adapters there are.
class SystemBus {
 public:
  explicit SystemBus(Root root = {}) : root_(std::move(root)) {}

  // For questions to the service `name`; owned by this object. ENOTCONN: no bus runs; its socket
  // stands before, and a connection to it waits. ETIMEDOUT: it accepted the connection
  // and did not answer within half a second, or an earlier question to `name` was not answered.
  [[nodiscard]] Result<sd_bus*> for_questions_to(const std::string& name);
  // Remembers of an answer's errno (negative, as of sd_bus_call(3)) that `name` was silent.
  int noted(const std::string& name, int code);

 private:
  // sd_bus_flush_close_unref() would wait for the bus again, for as long as it takes.
  using Connection = Handle<sd_bus, sd_bus_close_unref>;
  [[nodiscard]] Result<Connection> connect() const;

  Root root_;
  std::optional<Result<Connection>> connection_;
  std::set<std::string> silent_;
};

// True where the unit is being started or stopped, or has a job that waits for its turn; false
// where it is active, failed, inactive with nothing to come, or unknown to systemd. Errors: no bus
// (as early in a boot), no answer.
[[nodiscard]] Result<bool> unit_is_in_motion(SystemBus& bus, const std::string& unit);

// systemd's object for a unit.
[[nodiscard]] Result<std::string> unit_object(const std::string& unit);

// A property of such an object that is a text: of interface org.freedesktop.systemd1.INTERFACE.
[[nodiscard]] Result<std::string> unit_text(SystemBus& bus, const std::string& object,
                                            const char* interface, const char* property);

}  // namespace pvrdma::probes
