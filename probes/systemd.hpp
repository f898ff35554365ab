// SPDX-License-Identifier: GPL-2.0-or-later
// Asks systemd about units: by the links that it keeps, and by bounded calls over the system bus.
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

// `systemctl mask` leaves the links of the targets that want the service.
[[nodiscard]] bool is_masked(const Root& root, const std::string& service);

// Whether systemd starts a service at boot: it is installed, and a target wants it, on disk or by a
// generator.
[[nodiscard]] bool service_is_enabled(const Root& root, const std::string& service);

// "slurmd" -> "slurmd.service"; a name with a type stays unchanged.
[[nodiscard]] std::string service_name(const std::string& unit);

inline constexpr const char* kSystemdName = "org.freedesktop.systemd1";

using BusMessage = Handle<sd_bus_message, sd_bus_message_unref>;

// The limit of the wait for an answer, including the greeting of the bus daemon.
inline constexpr Milliseconds kBusPatience{500};

// The system bus for the duration of one look. It is connected once, at the first question. After a
// failed connection, or for a service that did not answer in time, there are no further questions.
// So a bus daemon or a service that hangs delays a look by half a second, however many adapters
// there are.
class SystemBus {
 public:
  explicit SystemBus(Root root = {}) : root_(std::move(root)) {}

  // The connection for questions to the service `name`; owned by this object. ENOTCONN: no bus
  // runs; its socket may exist before, but a connection to it would wait. ETIMEDOUT: the bus
  // accepted the connection and did not answer within half a second, or an earlier question to
  // `name` was not answered.
  [[nodiscard]] Result<sd_bus*> for_questions_to(const std::string& name);
  // Remembers that `name` did not answer, if `code` (negative errno, as from sd_bus_call(3)) says
  // so; returns `code`.
  int noted(const std::string& name, int code);

 private:
  // Not sd_bus_flush_close_unref(), which would wait for the bus again, without limit.
  using Connection = Handle<sd_bus, sd_bus_close_unref>;
  [[nodiscard]] Result<Connection> connect() const;

  Root root_;
  std::optional<Result<Connection>> connection_;
  std::set<std::string> silent_;
};

// True where the unit is being started or stopped, or has a waiting job; false where it is active,
// failed, inactive without a job, or unknown to systemd. Errors: no bus (as early in a boot), no
// answer.
[[nodiscard]] Result<bool> unit_is_in_motion(SystemBus& bus, const std::string& unit);

// The D-Bus object path of a unit.
[[nodiscard]] Result<std::string> unit_object(const std::string& unit);

// A text property of such an object, of interface org.freedesktop.systemd1.INTERFACE.
[[nodiscard]] Result<std::string> unit_text(SystemBus& bus, const std::string& object,
                                            const char* interface, const char* property);

}  // namespace pvrdma::probes
