#include "probes/network_manager.hpp"

#include <systemd/sd-bus.h>

#include <array>
#include <cerrno>

#include "agent/base/handle.hpp"
#include "probes/link_owner.hpp"
#include "probes/system_bus.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kNetworkManager = "NetworkManager.service";
constexpr const char* kName = "org.freedesktop.NetworkManager";
constexpr const char* kObject = "/org/freedesktop/NetworkManager";
constexpr const char* kDevice = "org.freedesktop.NetworkManager.Device";
constexpr const char* kActive = "org.freedesktop.NetworkManager.Connection.Active";
constexpr const char* kProfile = "org.freedesktop.NetworkManager.Settings.Connection";
constexpr const char* kNoObject = "/";

constexpr std::uint32_t kStateFailed = 120;    // NM_DEVICE_STATE_FAILED
constexpr std::uint32_t kFlagExternal = 0x80;  // NM_ACTIVATION_STATE_FLAG_EXTERNAL, since 1.26

// NetworkManager on the system bus. Errors say what was asked for; ENODEV: it has no such device.
class Manager {
 public:
  static Result<Manager> connect() {
    auto bus = open_system_bus();
    if (!bus) return fail(std::move(bus.error()));
    return Manager{std::move(*bus)};
  }

  // The object path of an interface's device.
  [[nodiscard]] Result<std::string> device(const std::string& interface_name) {
    auto answer = call(kObject, kName, "GetDeviceByIpIface", {interface_name.c_str(), nullptr});
    if (!answer) return fail(std::move(answer.error()));
    return read_text(answer->get(), SD_BUS_TYPE_OBJECT_PATH, "device of " + interface_name);
  }
  // A property of type s or o.
  [[nodiscard]] Result<std::string> text(const std::string& object, const char* interface,
                                         const char* name, char type) {
    auto answer = property(object, interface, name, type);
    if (!answer) return fail(std::move(answer.error()));
    return read_text(answer->get(), type, name);
  }
  // A property of type u or b.
  [[nodiscard]] Result<std::uint32_t> number(const std::string& object, const char* interface,
                                             const char* name, char type) {
    auto answer = property(object, interface, name, type);
    if (!answer) return fail(std::move(answer.error()));
    std::uint32_t value = 0;  // of both types, sd_bus_message_read_basic(3)
    if (const int code = sd_bus_message_read_basic(answer->get(), type, &value); code <= 0)
      return fail(code < 0 ? -code : EBADMSG, "reading NetworkManager's", name);
    return value;
  }

 private:
  explicit Manager(Bus bus) : bus_(std::move(bus)) {}

  // One call with two texts at most.
  Result<BusMessage> call(const std::string& object, const char* interface, const char* method,
                          const std::array<const char*, 2>& texts) {
    sd_bus_message* made = nullptr;
    int code =
        sd_bus_message_new_method_call(bus_.get(), &made, kName, object.c_str(), interface, method);
    const BusMessage question{made};
    for (const char* text : texts)
      if (code >= 0 && text != nullptr)
        code = sd_bus_message_append_basic(question.get(), SD_BUS_TYPE_STRING, text);
    // A manager that does not run must not be started by a look.
    if (code >= 0) code = sd_bus_message_set_auto_start(question.get(), 0);
    sd_bus_message* answer = nullptr;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    if (code >= 0) code = sd_bus_call(bus_.get(), question.get(), kBusPatienceUs, &error, &answer);
    if (sd_bus_error_has_name(&error, "org.freedesktop.NetworkManager.UnknownDevice") != 0)
      code = -ENODEV;
    sd_bus_error_free(&error);
    if (code < 0)
      return fail(-code, "asking NetworkManager for", texts.back() ? texts.back() : method);
    return BusMessage{answer};
  }

  // The answer, entered as far as the value.
  Result<BusMessage> property(const std::string& object, const char* interface, const char* name,
                              char type) {
    auto answer = call(object, "org.freedesktop.DBus.Properties", "Get", {interface, name});
    if (!answer) return answer;
    const std::array<char, 2> contents{type, '\0'};
    const int code =
        sd_bus_message_enter_container(answer->get(), SD_BUS_TYPE_VARIANT, contents.data());
    if (code <= 0) return fail(code < 0 ? -code : EBADMSG, "reading NetworkManager's", name);
    return answer;
  }

  static Result<std::string> read_text(sd_bus_message* answer, char type, const std::string& what) {
    const char* text = nullptr;
    if (const int code = sd_bus_message_read_basic(answer, type, &text); code <= 0)
      return fail(code < 0 ? -code : EBADMSG, "reading NetworkManager's", what);
    return std::string{text};
  }

  Bus bus_;
};

// The parts of `device` that an active connection tells.
Result<void> ask_about_connection(Manager& manager, const std::string& active,
                                  ManagedDevice& device) {
  device.active = true;
  const auto flags = manager.number(active, kActive, "StateFlags", SD_BUS_TYPE_UINT32);
  if (!flags) return fail(flags.error());
  device.external = (*flags & kFlagExternal) != 0;
  const auto profile = manager.text(active, kActive, "Connection", SD_BUS_TYPE_OBJECT_PATH);
  if (!profile) return fail(profile.error());
  if (auto file = manager.text(*profile, kProfile, "Filename", SD_BUS_TYPE_STRING))
    device.file = std::move(*file);
  return {};
}

Result<ManagedDevice> ask_about(Manager& manager, const std::string& name) {
  const auto path = manager.device(name);
  if (!path) return fail(path.error());
  const auto managed = manager.number(*path, kDevice, "Managed", SD_BUS_TYPE_BOOLEAN);
  if (!managed) return fail(managed.error());
  const auto state = manager.number(*path, kDevice, "State", SD_BUS_TYPE_UINT32);
  if (!state) return fail(state.error());
  const auto active = manager.text(*path, kDevice, "ActiveConnection", SD_BUS_TYPE_OBJECT_PATH);
  if (!active) return fail(active.error());
  ManagedDevice device{*managed != 0, *state, false, false, {}};
  if (*active != kNoObject)
    if (auto asked = ask_about_connection(manager, *active, device); !asked)
      return fail(asked.error());
  return device;
}

}  // namespace

Field<LinkOwner> owner_from(const ManagedDevice& device) {
  if (!device.managed || device.external) return {};
  const bool decided = device.active || device.state >= kStateFailed;
  return LinkOwner{LinkManager::NetworkManager, decided, device.file};
}

Field<LinkOwner> network_manager_owner(const Root& root, const std::string& name) {
  const LinkOwner undecided{LinkManager::NetworkManager, false, {}};
  if (!service_runs(root, kNetworkManager))
    return service_is_enabled(root, kNetworkManager) ? Field<LinkOwner>{undecided}
                                                     : Field<LinkOwner>{};
  auto manager = Manager::connect();
  if (!manager) return Field<LinkOwner>::unreadable(manager.error());
  const auto device = ask_about(*manager, name);
  if (device) return owner_from(*device);
  // It has just started, or has not seen the link yet; or the connection ended between two answers.
  for (const int code : {ENODEV, EBADR, ENXIO, EHOSTUNREACH})
    if (device.error().code == code) return undecided;
  return Field<LinkOwner>::unreadable(device.error());
}

}  // namespace pvrdma::probes
