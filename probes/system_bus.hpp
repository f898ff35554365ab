// The system bus, and systemd on it: bounded questions.
#pragma once

#include <systemd/sd-bus.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::probes {

inline constexpr const char* kSystemdName = "org.freedesktop.systemd1";

using Bus = Handle<sd_bus, sd_bus_flush_close_unref>;
using BusMessage = Handle<sd_bus_message, sd_bus_message_unref>;
using BusText = Handle<char, std::free>;

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
