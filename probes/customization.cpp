// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/customization.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "agent/base/clock.hpp"
#include "probes/systemd.hpp"

namespace pvrdma::probes {

namespace {

// cloud-init's generator makes it in every boot in which cloud-init will run
// (tools/cloud-init-generator).
constexpr const char* kCloudInitEnabled = "/run/cloud-init/enabled";
// The local stage makes this link anew in every boot.
constexpr const char* kCloudInitStatus = "/run/cloud-init/status.json";
// Shows that `write_files` has run, once for each instance (cloudinit/helpers.py).
constexpr const char* kFilesWritten = "/var/lib/cloud/instance/sem/config_write_files";
// Exists while open-vm-tools customizes the guest (libDeployPkg/linuxDeployment.c).
constexpr const char* kDeploying = "/var/log/.vmware-deploy.INPROGRESS";

enum class Written { Never, EarlierBoot, ThisBoot };

// When a file was last written. The answer may be wrong if the clock was set during the boot; then
// only a wait, which has a limit, is too long or too short.
Result<Written> written(const RootedPath& place) {
  const auto status = status_of(place);
  if (!status && means_absent(status.error())) return Written::Never;
  if (!status) return fail(status.error());
  using std::chrono::system_clock;
  const auto boot = system_clock::now() - BootClock::now().time_since_epoch();
  return system_clock::from_time_t(status->st_mtim.tv_sec) < boot ? Written::EarlierBoot
                                                                  : Written::ThisBoot;
}

bool has_ended(const nlohmann::json& stages, const char* name) {
  const auto stage = stages.find(name);
  if (stage == stages.end() || !stage->is_object()) return false;
  const auto finished = stage->find("finished");
  return finished != stage->end() && !finished->is_null();
}

// Whether an administrator has masked or disabled one of these services: cloud-init's generator
// asks neither, so a stage without its service would be waited for in vain.
bool is_switched_off(const Root& root, std::initializer_list<const char*> services) {
  return std::ranges::any_of(services, [&](const std::string& service) {
    const auto has = [&](const char* folder, const std::string& name) {
      return is_there(root / (folder + name), FinalLink::Shown).value_or(false);
    };
    constexpr const char* kOwn = "/etc/systemd/system/";
    constexpr const char* kPackaged = "/usr/lib/systemd/system/";
    const std::string wanted = "cloud-init.target.wants/" + service;
    if (is_masked(root, service)) return true;
    const bool installed = has(kPackaged, service) || has("/lib/systemd/system/", service);
    return installed && !has(kOwn, wanted) && !has(kPackaged, wanted);
  });
}

Field<std::string> cloud_init(const Root& root) {
  const auto enabled = is_there(root / kCloudInitEnabled);
  if (!enabled) return Field<std::string>::unreadable(enabled.error());
  if (!*enabled) return {};
  const auto stages = read_file(root / kCloudInitStatus).and_then([](const std::string& text) {
    return parse_cloud_init_status(text);
  });
  // First, as each look after the boot comes to this end.
  if (stages && stages->local_ended && stages->network_ended) return {};
  // Since cloud-init 24.3 cloud-init-main does the work, and the network stage has another name.
  if (is_switched_off(root, {"cloud-init-main.service", "cloud-init-local.service"})) return {};
  const std::string local = "cloud-init's local stage";
  if (!stages && means_absent(stages.error())) return local;
  if (!stages) return Field<std::string>::unreadable(stages.error());
  if (!stages->local_ended) return local;
  if (is_switched_off(root, {"cloud-init.service", "cloud-init-network.service"})) return {};
  const auto files = written(root / kFilesWritten);
  if (!files) return Field<std::string>::unreadable(files.error());
  if (*files == Written::EarlierBoot) return {};
  return std::string{"cloud-init's network stage"};
}

Field<std::string> open_vm_tools(const Root& root) {
  const auto deploying = written(root / kDeploying);
  if (!deploying) return Field<std::string>::unreadable(deploying.error());
  // A customization of an earlier boot was interrupted and does not go on.
  if (*deploying != Written::ThisBoot) return {};
  return std::string{"the guest customization of open-vm-tools"};
}

}  // namespace

Result<CloudInitStages> parse_cloud_init_status(std::string_view text) {
  const auto status = nlohmann::json::parse(text, nullptr, false);
  const auto stages = status.is_object() ? status.find("v1") : status.end();
  if (!status.is_object() || stages == status.end() || !stages->is_object())
    return fail(EBADMSG, "understanding", kCloudInitStatus);
  return CloudInitStages{has_ended(*stages, "init-local"), has_ended(*stages, "init")};
}

Field<std::string> customization(const Root& root) {
  Field<std::string> waited_for = open_vm_tools(root);
  return waited_for.is_known() ? waited_for : cloud_init(root);
}

}  // namespace pvrdma::probes
