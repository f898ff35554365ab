// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the tests of the guard: a machine without fault, and tables of requests.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/executor/guard.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::executor {

inline constexpr const char* kOne = "0000:13:00.1";
inline constexpr const char* kTwo = "0000:1b:00.1";
inline const Error kDenied{EACCES, "reading", "a file"};

inline AdapterFacts adapter(const std::string& function, const std::string& netdev,
                            const std::string& device, const std::string& mac) {
  AdapterFacts facts;
  facts.pci.function = function;
  facts.pci.net_function = function.substr(0, function.size() - 1) + "0";
  facts.pci.driver = std::string{"vmw_pvrdma"};
  facts.pci.net_driver = std::string{"vmxnet3"};
  facts.pci.netdev = netdev;
  facts.pci.rdma_device = device;
  facts.mac = mac;
  facts.mtu = 1500U;
  facts.link_up = true;
  facts.owner = {};
  return facts;
}

// Two adapters, the driver live, and no holder.
struct Scene {
  Config config;
  Facts facts;
  std::vector<AdapterFacts> adapters{adapter(kOne, "ens224f0", "rocep19s0f1", "00:50:56:8a:9f:c2"),
                                     adapter(kTwo, "ens256f0", "rocep27s0f1", "00:50:56:8a:00:01")};
  std::vector<Holder> holders;

  Scene() {
    facts.driver.name = "vmw_pvrdma";
    facts.driver.init = ModuleInit::Live;
    facts.driver.refcount = 0U;
  }
  void configure(AdapterMatch match, Manage manage, std::optional<unsigned> mtu = {},
                 std::vector<std::string> addresses = {}) {
    config.adapters.push_back({std::move(match), manage, mtu, std::move(addresses)});
  }
  std::optional<OperationResult> ask(const Operation& operation) {
    if (!facts.adapters.is_unreadable()) facts.adapters = adapters;
    if (!facts.holders.is_unreadable()) facts.holders = holders;
    return refusal(operation, config, facts);
  }
};

inline AdapterMatch by_mac(const char* mac) { return {mac, {}, {}}; }
inline AdapterMatch by_pci(const char* pci) { return {{}, pci, {}}; }
inline AdapterMatch by_netdev(const char* name) { return {{}, {}, name}; }

inline const ConfigureLink kUp{kOne, "ens224f0", {}, {}};

struct GuardCase {
  const char* what;
  Operation operation;
  std::function<void(Scene&)> change;
  std::optional<Outcome> refused;  // none: allowed
  const char* reason = "";         // a part of the refusal's detail
};

inline void check(
    const std::vector<GuardCase>& cases, const std::function<void(Scene&)>& first = [](Scene&) {}) {
  for (const GuardCase& one : cases) {
    INFO(one.what);
    Scene scene;
    first(scene);
    one.change(scene);
    const auto result = scene.ask(one.operation);
    if (result) INFO("refused: " << result->detail);
    CHECK(result.has_value() == one.refused.has_value());
    if (!result || !one.refused) continue;
    CHECK(result->outcome == *one.refused);
    CHECK(result->detail.find(one.reason) != std::string::npos);
  }
}

inline const auto kAsIs = [](Scene&) {};
inline constexpr auto kNo = Outcome::NotAllowed;

}  // namespace pvrdma::executor
