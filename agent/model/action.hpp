// Action: one thing the executor can be asked to do. The list is closed: six verbs, no more.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pvrdma {

// Insert a module with its dependencies and soft dependencies.
struct LoadModule {
  std::string module;
  friend bool operator==(const LoadModule&, const LoadModule&) = default;
};
// Bind vmw_pvrdma to a function that has no driver.
struct BindFunction {
  std::string function;
  friend bool operator==(const BindFunction&, const BindFunction&) = default;
};
// Unbind and bind a function, its verbs node closed first. For a driver that cannot be unloaded.
struct RebindFunction {
  std::string function;
  friend bool operator==(const RebindFunction&, const RebindFunction&) = default;
};
// Remove vmw_pvrdma and insert it again: reaches every adapter.
struct ReloadDriver {
  friend bool operator==(const ReloadDriver&, const ReloadDriver&) = default;
};
// Bring the adapter's link up, with MTU and addresses where given.
struct ConfigureLink {
  std::string function;
  std::string netdev;
  std::optional<unsigned> mtu;  // bytes
  std::vector<std::string> addresses;
  friend bool operator==(const ConfigureLink&, const ConfigureLink&) = default;
};
// Take the adapter's link down and up again, keeping its addresses.
struct BounceLink {
  std::string function;
  std::string netdev;
  friend bool operator==(const BounceLink&, const BounceLink&) = default;
};

using Operation =
    std::variant<LoadModule, BindFunction, RebindFunction, ReloadDriver, ConfigureLink, BounceLink>;

struct Action {
  Operation operation;
  std::string reason;  // for a person: "ib_umad must be loaded before vmw_pvrdma"
  friend bool operator==(const Action&, const Action&) = default;
};

// "LoadModule", "BindFunction", …: the verb's name in the varlink interface.
[[nodiscard]] const char* verb(const Operation& operation);
// What it is done to: a module, a function address; "vmw_pvrdma" for ReloadDriver.
[[nodiscard]] std::string target(const Operation& operation);
// "LoadModule ib_umad"
[[nodiscard]] std::string describe(const Operation& operation);
// True for the verbs that take the driver away from a function: RebindFunction, ReloadDriver.
[[nodiscard]] bool takes_driver_away(const Operation& operation);
// True for these and BounceLink: what takes away something that works.
[[nodiscard]] bool disturbs(const Operation& operation);

}  // namespace pvrdma
