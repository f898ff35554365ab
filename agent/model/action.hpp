// SPDX-License-Identifier: GPL-2.0-or-later
// Action: one operation that the executor can be asked for. The list is closed: five operations.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
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
// Close a function's verbs node, then unbind and bind the function. For a driver that cannot be
// unloaded.
struct RebindFunction {
  std::string function;
  friend bool operator==(const RebindFunction&, const RebindFunction&) = default;
};
// Remove vmw_pvrdma and insert it again. This affects every adapter.
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

using Operation =
    std::variant<LoadModule, BindFunction, RebindFunction, ReloadDriver, ConfigureLink>;

// In the order of Operation's alternatives.
enum class Verb { LoadModule, BindFunction, RebindFunction, ReloadDriver, ConfigureLink };
inline constexpr std::array kVerbs{Verb::LoadModule, Verb::BindFunction, Verb::RebindFunction,
                                   Verb::ReloadDriver, Verb::ConfigureLink};
static_assert(kVerbs.size() == std::variant_size_v<Operation>);

struct Action {
  Operation operation;
  std::string reason;  // for a person: "ib_umad must be loaded before vmw_pvrdma"
  friend bool operator==(const Action&, const Action&) = default;
};

// The verb's name in the varlink interface and in the ledger, and back.
[[nodiscard]] const char* to_string(Verb verb);
[[nodiscard]] std::optional<Verb> verb_from(std::string_view name);

[[nodiscard]] Verb verb(const Operation& operation);
// The module or the function address that the operation changes; "vmw_pvrdma" for ReloadDriver.
[[nodiscard]] std::string target(const Operation& operation);
// "LoadModule ib_umad"
[[nodiscard]] std::string describe(const Operation& operation);
[[nodiscard]] std::string describe(Verb verb, const std::string& target);
// True for the verbs that take the driver away from a function: RebindFunction, ReloadDriver.
[[nodiscard]] bool takes_driver_away(Verb verb);
[[nodiscard]] bool takes_driver_away(const Operation& operation);

}  // namespace pvrdma
