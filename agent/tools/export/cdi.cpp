// The Container Device Interface's file: a device for each adapter.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "agent/base/text.hpp"
#include "agent/tools/export/formats.hpp"

namespace pvrdma::exports {

namespace {

using Json = nlohmann::ordered_json;

// "uverbs0"
bool is_uverbs(std::string_view name) {
  constexpr std::string_view kPrefix = "uverbs";
  if (name.substr(0, kPrefix.size()) != kPrefix) return false;
  const std::string_view number = name.substr(kPrefix.size());
  return !number.empty() && number.size() <= 4 &&
         std::all_of(number.begin(), number.end(), [](char c) { return is_digit(c); });
}

// "0000:13:00.1"
bool is_function(std::string_view address) {
  constexpr std::string_view kForm = "xxxx:xx:xx.d";
  return std::equal(address.begin(), address.end(), kForm.begin(), kForm.end(),
                    [](char c, char form) {
                      return form == 'x' ? is_hex(c) : form == 'd' ? is_digit(c) : c == form;
                    });
}

Json node(const std::string& name) {
  return {{"path", "/dev/infiniband/" + name}, {"type", "c"}, {"permissions", "rw"}};
}

Json device(const std::string& name, Json nodes, bool connection_manager) {
  if (connection_manager) nodes.push_back(node("rdma_cm"));
  return {{"name", name}, {"containerEdits", {{"deviceNodes", std::move(nodes)}}}};
}

}  // namespace

std::optional<std::string> cdi(const Health& health, bool connection_manager) {
  Json devices = Json::array();
  Json all = Json::array();
  for (const AdapterHealth& adapter : health.adapters) {
    const RdmaDevice* rdma = adapter.adapter.rdma.get();
    const std::string* uverbs = rdma == nullptr ? nullptr : rdma->uverbs.get();
    if (uverbs == nullptr || !is_uverbs(*uverbs) || !is_function(adapter.adapter.function))
      continue;
    devices.push_back(
        device(adapter.adapter.function, Json::array({node(*uverbs)}), connection_manager));
    all.push_back(node(*uverbs));
  }
  if (devices.empty()) return std::nullopt;
  devices.push_back(device("all", std::move(all), connection_manager));
  return Json{{"cdiVersion", "0.5.0"}, {"kind", kCdiKind}, {"devices", std::move(devices)}}.dump(
             2) +
         "\n";
}

}  // namespace pvrdma::exports
