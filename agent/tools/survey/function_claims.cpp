// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/function_claims.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "agent/base/text.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

// The drivers that take functions by `ids=` (Linux drivers/vfio/pci/vfio_pci.c,
// drivers/pci/pci-stub.c).
std::string claimer_of(std::string_view module) {
  const std::string name = with_underscores(module);
  if (name == "vfio_pci") return "vfio-pci";
  return name == "pci_stub" ? "pci-stub" : "";
}

// The function of an adapter that "VENDOR:DEVICE[:SUBVENDOR[:…]]" names: "15ad:07b0" or
// "15ad:0820"; empty: neither. The rest after the device only restricts the match, so it is
// ignored.
std::string id_of_adapter(std::string_view id) {
  const auto number = [&]() -> std::optional<unsigned> {
    std::string_view part = cut(id, ':');
    if (part.starts_with("0x") || part.starts_with("0X")) part.remove_prefix(2);
    return number_from<unsigned>(part, 16);
  };
  const auto vendor = number();
  const auto device = number();
  if (vendor != 0x15adU) return {};
  if (device == 0x07b0U) return "15ad:07b0";
  return device == 0x0820U ? "15ad:0820" : "";
}

// `options`: "ids=15ad:07b0,10de:1eb8 disable_vga=1".
std::string claimed_by(std::string_view options) {
  std::vector<std::string> found;
  for (const std::string& word : command_line_words(options)) {
    std::string_view ids = word;
    if (!ids.starts_with("ids=")) continue;
    ids.remove_prefix(4);
    while (!ids.empty())
      if (std::string id = id_of_adapter(cut(ids, ',')); !id.empty() && !contains(found, id))
        found.push_back(std::move(id));
  }
  return joined(found);
}

}  // namespace

Field<std::vector<FunctionClaim>> find_function_claims(const ModprobeConfig& config,
                                                       const Result<std::string>& command_line) {
  using Claims = std::vector<FunctionClaim>;
  if (!config) return Field<Claims>::unreadable(config.error());
  if (!command_line) return Field<Claims>::unreadable(command_line.error());
  Claims claims;
  const auto add = [&](const std::string& driver, std::string_view options, std::string how) {
    if (driver.empty()) return;
    if (std::string ids = claimed_by(options); !ids.empty())
      claims.push_back({driver, std::move(ids), std::move(how)});
  };
  for (const ModprobeLine& line : *config)
    if (line.keyword == "options") add(claimer_of(line.name), line.rest, quoted(line));
  for (const std::string& word : command_line_words(*command_line)) {
    std::string_view rest = word;
    const std::string driver = claimer_of(cut(rest, '.'));
    add(driver, rest, quoted_word(word));
  }
  return claims;
}

}  // namespace pvrdma::probes
