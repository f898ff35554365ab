// ConfigDraft::add(): each key by itself. Those of [[adapter]] are in draft_adapters.cpp.
#include "agent/config/draft.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/config/duration.hpp"
#include "agent/config/member.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

namespace {

using toml_tree::Node;

constexpr std::int64_t kAdaptersMax = 10;  // NICs of a VM

Result<void> read_modules(const Item& list, std::vector<std::string>& into,
                          std::vector<Said>* said) {
  if (!list.is(Node::Kind::Array)) return list.bad("must be a list of module names");
  std::vector<std::string> names;
  std::vector<Said> places;
  for (const Item& item : list.items()) {
    const auto name = item.string() ? module_name(*item.string()) : std::nullopt;
    if (!name) return item.bad("must be a module's name: 1 to 55 letters, digits, \"_\" and \"-\"");
    if (std::count(names.begin(), names.end(), *name) > 0)
      return item.bad("must be listed only once");
    names.push_back(*name);
    places.push_back(item.said());
  }
  into = std::move(names);
  if (said != nullptr) *said = std::move(places);
  return {};
}

Result<void> read_before(const Item& list, std::vector<std::string>& into) {
  if (auto read = read_modules(list, into, nullptr); !read) return read;
  const auto driver = std::find(into.begin(), into.end(), kDriverModule);
  if (driver == into.end()) return {};
  return list.items()[static_cast<std::size_t>(driver - into.begin())].bad(
      "must be a module other than vmw_pvrdma, which is always the last");
}

Result<void> read_modules_table(const Item& table, ConfigDraft& draft) {
  if (auto right = table.expect_table({"before", "required", "reload"}); !right) return right;
  auto& modules = draft.config.modules;
  if (auto read = with_member(table, "before",
                              [&](const Item& item) { return read_before(item, modules.before); });
      !read)
    return read;
  if (auto read = with_member(table, "required",
                              [&](const Item& item) {
                                draft.required_set = true;
                                return read_modules(item, modules.required, &draft.required_said);
                              });
      !read)
    return read;
  static constexpr std::array<std::pair<const char*, ReloadPolicy>, 3> kWords{
      {{"auto", ReloadPolicy::Auto},
       {"always", ReloadPolicy::Always},
       {"never", ReloadPolicy::Never}}};
  return with_member(table, "reload",
                     [&](const Item& item) { return read_word(item, kWords, modules.reload); });
}

Result<void> read_adapter_count(const Item& item, std::optional<unsigned>& into) {
  const auto count = item.integer();
  const bool all = item.string() != nullptr && *item.string() == "all";
  if (!all && (!count || *count < 0 || *count > kAdaptersMax))
    return item.bad("must be \"all\" or a number from 0 to " + std::to_string(kAdaptersMax));
  into = all ? std::nullopt : std::optional{static_cast<unsigned>(*count)};
  return {};
}

// `parse` says what is allowed in code, `rule` in words.
Result<void> read_time(const Item& item, std::optional<Milliseconds> (*parse)(std::string_view),
                       std::string_view rule, Milliseconds& into) {
  const auto time = item.string() ? parse(*item.string()) : std::nullopt;
  if (!time) return item.bad(std::string{rule});
  into = *time;
  return {};
}

Result<void> read_readiness_table(const Item& table, Config::Readiness& readiness) {
  if (auto right = table.expect_table({"adapters", "timeout", "forget_removed"}); !right)
    return right;
  if (auto read = with_member(
          table, "adapters",
          [&](const Item& item) { return read_adapter_count(item, readiness.adapters); });
      !read)
    return read;
  if (auto read = with_member(table, "timeout",
                              [&](const Item& item) {
                                return read_time(item, parse_timeout, kTimeoutRule,
                                                 readiness.timeout);
                              });
      !read)
    return read;
  return with_member(table, "forget_removed", [&](const Item& item) {
    return read_time(item, parse_duration, kDurationRule, readiness.forget_removed);
  });
}

Result<void> read_guestinfo_table(const Item& table, Config::Guestinfo& guestinfo) {
  if (auto right = table.expect_table({"enabled"}); !right) return right;
  return with_member(table, "enabled", [&](const Item& item) -> Result<void> {
    if (!item.boolean()) return item.bad("must be true or false");
    guestinfo.enabled = *item.boolean();
    return {};
  });
}

}  // namespace

Result<void> ConfigDraft::add(const Node& root, const std::string& file) {
  const Item top{root, file, ""};
  if (auto right = top.expect_table({"modules", "readiness", "guestinfo", "adapter"}); !right)
    return right;
  if (auto read = with_member(top, "modules",
                              [&](const Item& item) { return read_modules_table(item, *this); });
      !read)
    return read;
  if (auto read = with_member(
          top, "readiness",
          [&](const Item& item) { return read_readiness_table(item, config.readiness); });
      !read)
    return read;
  if (auto read = with_member(
          top, "guestinfo",
          [&](const Item& item) { return read_guestinfo_table(item, config.guestinfo); });
      !read)
    return read;
  return with_member(top, "adapter", [&](const Item& item) { return add_adapters(item); });
}

}  // namespace pvrdma
