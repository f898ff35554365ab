#include "agent/ctl/changes.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/ctl/fields.hpp"

namespace pvrdma::ctl {

namespace {

using Lines = std::vector<std::string>;
using FieldReader = std::optional<std::string> (*)(const Json& adapter);

std::string word(const std::optional<std::string>& value) {
  return value && !value->empty() ? *value : "none";
}

std::string gid_list(const Json& adapter) {
  std::string out;
  for (const Json& gid : list_of(adapter, "gids"))
    out += (out.empty() ? "" : ", ") + word(text(gid, "gid")) + " " + word(text(gid, "type"));
  return out;
}

std::optional<std::string> yes_no(const Json& adapter, const char* key) {
  const auto value = flag(adapter, key);
  if (!value) return std::nullopt;
  return *value ? "yes" : "no";
}

// What of an adapter is worth a line when it changes, and what the line calls it.
constexpr std::array<std::pair<const char*, FieldReader>, 10> kFields{{
    {"state", [](const Json& a) { return text(a, "state"); }},
    {"port", [](const Json& a) { return text(object_of(a, "port"), "state"); }},
    {"driver", [](const Json& a) { return text(a, "driver"); }},
    {"RDMA device", [](const Json& a) { return text(a, "rdma_device"); }},
    {"interface", [](const Json& a) { return text(a, "netdev"); }},
    {"link up", [](const Json& a) { return yes_no(a, "link_up"); }},
    {"carrier", [](const Json& a) { return yes_no(a, "carrier"); }},
    {"MTU",
     [](const Json& a) {
       const auto mtu = number(a, "mtu");
       return mtu ? std::optional{std::to_string(*mtu)} : std::nullopt;
     }},
    {"addresses", [](const Json& a) { return std::optional{joined(texts(a, "addresses"))}; }},
    {"GIDs", [](const Json& a) { return std::optional{gid_list(a)}; }},
}};

// The element of `list` whose fields named by `keys` equal those of `like`; null: none.
template <typename Keys>
const Json* same_in(const Json& list, const Json& like, const Keys& keys) {
  for (const Json& item : list) {
    bool same = true;
    for (const char* key : keys) same = same && text(item, key) == text(like, key);
    if (same) return &item;
  }
  return nullptr;
}

constexpr std::array<const char*, 1> kAdapterKeys{"function"};
constexpr std::array<const char*, 2> kFindingKeys{"id", "adapter"};

void adapter_changes(const Json& before, const Json& after, Lines& lines) {
  for (const Json& adapter : list_of(after, "adapters")) {
    const std::string name = word(text(adapter, "function"));
    const Json* old = same_in(list_of(before, "adapters"), adapter, kAdapterKeys);
    if (old == nullptr) {
      lines.push_back(name + ": " + word(text(adapter, "state")) + ", port " +
                      word(text(object_of(adapter, "port"), "state")));
      continue;
    }
    for (const auto& [label, read] : kFields)
      if (const auto was = word(read(*old)), is = word(read(adapter)); was != is)
        lines.push_back(name + " " + label + ": " + was + " -> " + is);
  }
  for (const Json& adapter : list_of(before, "adapters"))
    if (same_in(list_of(after, "adapters"), adapter, kAdapterKeys) == nullptr)
      lines.push_back(word(text(adapter, "function")) + ": gone");
}

std::string finding_name(const Json& finding) {
  const auto adapter = text(finding, "adapter");
  return "finding " + word(text(finding, "id")) + (adapter ? " of " + *adapter : "");
}

void finding_changes(const Json& before, const Json& after, Lines& lines) {
  for (const Json& finding : list_of(after, "findings")) {
    const Json* old = same_in(list_of(before, "findings"), finding, kFindingKeys);
    if (old != nullptr && text(*old, "summary") == text(finding, "summary") &&
        text(*old, "severity") == text(finding, "severity"))
      continue;
    lines.push_back(finding_name(finding) + " (" + word(text(finding, "severity")) +
                    "): " + word(text(finding, "summary")));
  }
  for (const Json& finding : list_of(before, "findings"))
    if (same_in(list_of(after, "findings"), finding, kFindingKeys) == nullptr)
      lines.push_back(finding_name(finding) + ": gone");
}

void executor_changes(const Json& before, const Json& after, Lines& lines) {
  const Json& was = object_of(object_of(before, "executor"), "busy");
  const Json& is = object_of(object_of(after, "executor"), "busy");
  const auto call = text(is, "call");
  if (call != text(was, "call"))
    lines.push_back("executor: " + (call ? *call : word(text(was, "call")) + " has ended"));
  if (flag(is, "stuck").value_or(false) && !flag(was, "stuck").value_or(false))
    lines.push_back("executor: " + word(call) + " is stuck in the kernel");
}

}  // namespace

std::vector<std::string> changes(const Json& before, const Json& after) {
  Lines lines;
  const std::string is = state_of(after);
  const std::string summary = word(text(after, "summary"));
  if (!before.is_object()) {
    lines.push_back("state: " + is + ": " + summary);
  } else if (state_of(before) != is) {
    lines.push_back("state: " + state_of(before) + " -> " + is + ": " + summary);
  } else if (text(before, "summary") != text(after, "summary")) {
    lines.push_back("state: still " + is + ": " + summary);
  }
  adapter_changes(before, after, lines);
  finding_changes(before, after, lines);
  executor_changes(before, after, lines);
  return lines;
}

}  // namespace pvrdma::ctl
