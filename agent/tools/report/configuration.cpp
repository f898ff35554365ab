// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration as a part of a report.

#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/base/format.hpp"
#include "agent/codec/value_json.hpp"
#include "agent/config/config_files.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/report/command.hpp"

namespace pvrdma::ctl {

namespace {

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

}  // namespace

Result<Json> configuration_part(const Root& root) {
  const auto loaded = load_config(root);
  if (!loaded) return fail(loaded.error());
  Json files = Json::array();
  for (const auto& file : loaded->files) files.push_back(file_json(file));
  return Json{{"files", std::move(files)},
              {"values", codec::to_value(loaded->config)},
              {"left_out", or_null(loaded->left_out)}};
}

}  // namespace pvrdma::ctl
