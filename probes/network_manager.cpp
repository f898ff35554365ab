// SPDX-License-Identifier: GPL-2.0-or-later
// Asks NetworkManager about a link (link_owner.hpp) over D-Bus
// (org.freedesktop.NetworkManager.Device and .Connection.Active; every user may read both).
#include <systemd/sd-bus.h>

#include <cerrno>
#include <initializer_list>
#include <type_traits>

#include "probes/link_owner.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kNetworkManager = "NetworkManager.service";
constexpr const char* kName = "org.freedesktop.NetworkManager";
constexpr const char* kObject = "/org/freedesktop/NetworkManager";
constexpr const char* kDevice = "org.freedesktop.NetworkManager.Device";
constexpr const char* kActive = "org.freedesktop.NetworkManager.Connection.Active";
constexpr const char* kProfile = "org.freedesktop.NetworkManager.Settings.Connection";
constexpr const char* kNoObject = "/";

constexpr std::uint32_t kStateUnavailable = 20;  // NM_DEVICE_STATE_UNAVAILABLE
constexpr std::uint32_t kStateFailed = 120;      // NM_DEVICE_STATE_FAILED
// NM_DEVICE_STATE_REASON_SLEEPING: networking was switched off, or the machine is suspended.
constexpr std::uint32_t kReasonSleeping = 37;
constexpr std::uint32_t kReasonUserRequested = 39;  // NM_DEVICE_STATE_REASON_USER_REQUESTED
constexpr std::uint32_t kReasonCarrier = 40;        // NM_DEVICE_STATE_REASON_CARRIER
constexpr std::uint32_t kFlagExternal = 0x80;       // NM_ACTIVATION_STATE_FLAG_EXTERNAL, since 1.26

// Calls a method, or Get() for an interface's property, which the Error names. ENODEV:
// NetworkManager has no such device.
Result<BusMessage> call(SystemBus& bus, const std::string& object, const char* interface,
                        const char* method, std::initializer_list<const char*> texts) {
  const auto asked = bus.for_questions_to(kName);
  if (!asked) return fail(asked.error());
  sd_bus_message* made = nullptr;
  int code =
      sd_bus_message_new_method_call(*asked, &made, kName, object.c_str(), interface, method);
  const BusMessage question{made};
  for (const char* text : texts)
    if (code >= 0) code = sd_bus_message_append_basic(question.get(), SD_BUS_TYPE_STRING, text);
  // A look must not start a NetworkManager that does not run.
  if (code >= 0) code = sd_bus_message_set_auto_start(question.get(), 0);
  sd_bus_message* answer = nullptr;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  if (code >= 0) code = bus.noted(kName, sd_bus_call(*asked, question.get(), 0, &error, &answer));
  if (sd_bus_error_has_name(&error, "org.freedesktop.NetworkManager.UnknownDevice") != 0)
    code = -ENODEV;
  sd_bus_error_free(&error);
  if (code < 0)
    return fail(-code, "asking NetworkManager for",
                texts.size() > 1 ? *(texts.begin() + 1) : method);
  return BusMessage{answer};
}

// The object path of an interface's device.
Result<std::string> find_device(SystemBus& bus, const std::string& interface_name) {
  const auto answer = call(bus, kObject, kName, "GetDeviceByIpIface", {interface_name.c_str()});
  if (!answer) return fail(answer.error());
  const char* path = nullptr;
  if (const int code = sd_bus_message_read(answer->get(), "o", &path); code <= 0)
    return fail(code < 0 ? -code : EBADMSG, "reading NetworkManager's",
                "device of " + interface_name);
  return std::string{path};
}

// A property of D-Bus type `type`: a std::string for "s" and "o", a number for "u" and "b".
template <typename Value>
Result<Value> property(SystemBus& bus, const std::string& object, const char* interface,
                       const char* name, const char* type) {
  const auto answer =
      call(bus, object, "org.freedesktop.DBus.Properties", "Get", {interface, name});
  if (!answer) return fail(answer.error());
  std::conditional_t<std::is_same_v<Value, std::string>, const char*, Value> value{};
  const int code = sd_bus_message_read(answer->get(), "v", type, &value);
  if (code <= 0) return fail(code < 0 ? -code : EBADMSG, "reading NetworkManager's", name);
  return Value{value};
}

// The reason of the device's state.
Result<std::uint32_t> state_reason(SystemBus& bus, const std::string& device) {
  const auto answer =
      call(bus, device, "org.freedesktop.DBus.Properties", "Get", {kDevice, "StateReason"});
  if (!answer) return fail(answer.error());
  std::uint32_t state = 0;
  std::uint32_t reason = 0;
  const int code = sd_bus_message_read(answer->get(), "v", "(uu)", &state, &reason);
  if (code <= 0) return fail(code < 0 ? -code : EBADMSG, "reading NetworkManager's", "StateReason");
  return reason;
}

// Fills in the parts of `device` that come from its active connection.
Result<void> ask_about_connection(SystemBus& bus, const std::string& active,
                                  ManagedDevice& device) {
  device.active = true;
  const auto flags = property<std::uint32_t>(bus, active, kActive, "StateFlags", "u");
  if (!flags) return fail(flags.error());
  device.external = (*flags & kFlagExternal) != 0;
  const auto profile = property<std::string>(bus, active, kActive, "Connection", "o");
  if (!profile) return fail(profile.error());
  device.file = property<std::string>(bus, *profile, kProfile, "Filename", "s").value_or("");
  return {};
}

Result<ManagedDevice> ask_about(SystemBus& bus, const std::string& name) {
  const auto path = find_device(bus, name);
  if (!path) return fail(path.error());
  const auto managed = property<std::uint32_t>(bus, *path, kDevice, "Managed", "b");
  if (!managed) return fail(managed.error());
  const auto state = property<std::uint32_t>(bus, *path, kDevice, "State", "u");
  if (!state) return fail(state.error());
  const auto active = property<std::string>(bus, *path, kDevice, "ActiveConnection", "o");
  if (!active) return fail(active.error());
  const auto reason = state_reason(bus, *path);
  if (!reason) return fail(reason.error());
  const auto networking = property<int>(bus, kObject, kName, "NetworkingEnabled", "b");
  if (!networking) return fail(networking.error());
  ManagedDevice device{*managed != 0, *state, *reason, *networking != 0, false, false, {}};
  if (*active != kNoObject)
    if (auto asked = ask_about_connection(bus, *active, device); !asked) return fail(asked.error());
  return device;
}

}  // namespace

Field<LinkOwner> owner_from(const ManagedDevice& device) {
  const bool asleep = device.reason == kReasonSleeping;
  if (device.external || (!device.managed && !asleep && device.networking)) return {};
  // NetworkManager ends the connection of a link that loses its carrier, and makes it again later.
  const bool waits = device.state == kStateUnavailable && device.reason == kReasonCarrier;
  const bool decided = device.active || device.state >= kStateFailed || asleep ||
                       (device.managed && (waits || device.reason == kReasonUserRequested));
  return LinkOwner{LinkManager::NetworkManager, decided, device.file};
}

Field<LinkOwner> network_manager_owner(const Root& root, const std::string& name, SystemBus& bus) {
  const LinkOwner undecided{LinkManager::NetworkManager, false, {}};
  if (!service_runs(root, kNetworkManager))
    return service_is_enabled(root, kNetworkManager) ? Field<LinkOwner>{undecided}
                                                     : Field<LinkOwner>{};
  const auto device = ask_about(bus, name);
  if (device) return owner_from(*device);
  // NetworkManager has just started, or has not seen the link yet, or the connection ended between
  // two answers.
  for (const int code : {ENODEV, EBADR, ENXIO, EHOSTUNREACH})
    if (device.error().code == code) return undecided;
  return Field<LinkOwner>::unreadable(device.error());
}

}  // namespace pvrdma::probes
