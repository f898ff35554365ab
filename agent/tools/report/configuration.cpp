// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration as a part of a report.

#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/base/format.hpp"
#include "agent/config/config_files.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/tools/report/command.hpp"

namespace pvrdma::ctl {

namespace {

template <typename T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const AdapterConfig& adapter) {
  return {{"match",
           {{"mac", value_or_null(adapter.match.mac)},
            {"pci", value_or_null(adapter.match.pci)},
            {"netdev", value_or_null(adapter.match.netdev)}}},
          {"manage", to_string(adapter.manage)},
          {"mtu", value_or_null(adapter.mtu)},
          {"addresses", adapter.addresses},
          {"gid_type", to_string(adapter.gid_type)}};
}

// A link counts itself, not its target. Without owner: the source is no file, as with vSphere's
// variables.
Json file_json(const std::filesystem::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0)
    return {{"path", file.string()}, {"uid", nullptr}, {"gid", nullptr}, {"mode", nullptr}};
  return {{"path", file.string()},
          {"uid", status.st_uid},
          {"gid", status.st_gid},
          {"mode", formatted("{:04o}", status.st_mode & 07777U)}};
}

Json to_json(const Config& config) {
  Json adapters = Json::array();
  for (const AdapterConfig& adapter : config.adapters) adapters.push_back(to_json(adapter));
  return {{"modules",
           {{"before", config.modules.before},
            {"required", config.modules.required},
            {"reload", to_string(config.modules.reload)}}},
          {"readiness",
           {{"adapters", value_or_null(config.readiness.adapters)},
            {"timeout_ms", config.readiness.timeout.count()},
            {"forget_removed_ms", config.readiness.forget_removed.count()}}},
          {"guestinfo", {{"enabled", config.guestinfo.enabled.value_or(false)}}},
          {"every_adapter", to_json(config.every_adapter)},
          {"adapter", std::move(adapters)}};
}

}  // namespace

Result<Json> configuration_part(const Root& root) {
  const auto loaded = load_config(root);
  if (!loaded) return fail(loaded.error());
  Json files = Json::array();
  for (const auto& file : loaded->files) files.push_back(file_json(file));
  return Json{{"files", std::move(files)},
              {"values", to_json(loaded->config)},
              {"left_out", or_null(loaded->left_out)}};
}

}  // namespace pvrdma::ctl
