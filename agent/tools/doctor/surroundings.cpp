// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/surroundings.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/plan/questions.hpp"
#include "agent/tools/doctor/support_matrix.hpp"
#include "probes/recipe/places.hpp"

namespace pvrdma::doctor {

namespace {

using Findings = std::vector<Finding>;

constexpr const char* kVmware = "VMware, Inc.";
// A clock set over the network is never this far off; the hardware clock counts whole seconds.
constexpr std::int64_t kClockOffSeconds = 5;

void add(Findings& findings, FindingId id, std::string_view variant, Values values) {
  findings.push_back(make_finding(id, variant, std::move(values)));
}

// The kind of the machine where it is known not to be vSphere's VM; systemd's answer counts where
// DMI has none.
std::optional<std::string> other_machine(const Survey& survey) {
  if (const std::string* vendor = survey.vendor.get())
    return *vendor == kVmware ? std::nullopt : std::optional{*vendor};
  const std::string* name = survey.virtualization.get();
  if (name == nullptr || *name == "vmware") return std::nullopt;
  return (*name == "none" ? "no virtual machine" : *name) + ", by systemd";
}

void check_functions(const Snapshot& snapshot, const Survey& survey, Findings& findings) {
  const auto* adapters = snapshot.adapters.get();
  if (adapters == nullptr || !adapters->empty()) return;
  const auto nics = survey.vmxnet3.value_or({});
  if (const auto other = other_machine(survey))
    add(findings, FindingId::NoRdmaFunction, "elsewhere", {{"vendor", *other}});
  else if (!nics.empty())
    add(findings, FindingId::NoRdmaFunction, "vmxnet3", {{"nics", "vmxnet3 at " + joined(nics)}});
  else
    add(findings, FindingId::NoRdmaFunction, "none", {});
}

void check_nodes(const Snapshot& snapshot, const Survey& survey, Findings& findings) {
  if (survey.nodes.is_unreadable()) return;
  std::vector<std::string> missing;
  std::vector<std::string> closed;
  std::vector<std::string> options;
  for (const std::string& name : needed_nodes(snapshot)) {
    const DeviceNode* node = find_node(survey, name);
    if (node == nullptr) {
      missing.push_back(name);
      options.push_back("--device /dev/infiniband/" + name);
    } else if (node->openable.is(false)) {
      closed.push_back("/dev/infiniband/" + name);
    }
  }
  if (!missing.empty())
    add(findings, FindingId::NodesMissing, survey.container.is_known() ? "container" : "guest",
        {{"nodes", joined(missing)}, {"devices", joined(options, " ")}});
  if (!closed.empty()) add(findings, FindingId::NodesClosed, {}, {{"nodes", joined(closed)}});
}

// A path alone (OFED's folder) is no shadowing: that folder holds tools as well.
bool is_shadowing(const std::string& trace) { return trace.find(' ') != std::string::npos; }

void check_provider(const Libraries& libraries, const VerbsLibrary& first, Findings& findings) {
  if (libraries.driver_file.is_unreadable()) return;
  if (libraries.providers.empty())
    return add(findings, FindingId::ProviderMissing, "none", {{"library", first.path}});
  if (libraries.driver_file.is_absent())
    return add(
        findings, FindingId::ProviderMissing, "unnamed",
        {{"provider", libraries.providers.front().path}, {"folder", libraries.driver_folder}});
  const auto fits = [&](const VerbsLibrary& provider) {
    return !first.private_abi.is_known() || provider.private_abi == first.private_abi;
  };
  if (std::any_of(libraries.providers.begin(), libraries.providers.end(), fits)) return;
  const VerbsLibrary& provider = libraries.providers.front();
  add(findings, FindingId::ProviderMismatch, {},
      {{"provider", provider.path},
       {"has", std::to_string(*provider.private_abi.get())},
       {"library", first.path},
       {"wants", std::to_string(*first.private_abi.get())}});
}

void check_libraries(const Survey& survey, Findings& findings) {
  const Libraries* libraries = survey.libraries.get();
  if (libraries == nullptr) return;
  const std::size_t before = findings.size();
  if (libraries->verbs.empty())
    add(findings, FindingId::VerbsMissing, {}, {});
  else
    check_provider(*libraries, libraries->verbs.front(), findings);
  const bool is_lacking = findings.size() != before;
  const auto& traces = libraries->vendor;
  if (!std::any_of(traces.begin(), traces.end(), is_shadowing) && (!is_lacking || traces.empty()))
    return;
  const auto packages = libraries->vendor_packages.value_or({});
  const std::string codename = survey.os.value_or({}).codename;
  add(findings, FindingId::VendorLibraries, libraries->vendor_packages.is_absent() ? "rpm" : "dpkg",
      {{"traces", joined(traces)},
       // Without a package of the vendor the distribution's is installed anew.
       {"packages", packages.empty() ? "libibverbs1" : joined(packages, " ")},
       {"release", codename.empty() ? "" : "-t " + codename + " "}});
}

// Tells who has set this process's limit.
const char* limit_variant(const Survey& survey) {
  if (survey.in_slurm_job) return "job";
  if (survey.container.is("apptainer")) return "inherited";
  return survey.container.is_known() ? "container" : "shell";
}

void check_memlock(const Survey& survey, Findings& findings) {
  const MemlockLimit* own = survey.own_memlock.get();
  if (own != nullptr && is_low(*own) && survey.may_lock_all.is(false))
    add(findings, FindingId::MemlockLow, limit_variant(survey), {{"limit", text_of(*own)}});
  for (const UnitMemlock& unit : survey.unit_memlocks) {
    if (unit.limit.is_absent()) add(findings, FindingId::NoSuchUnit, {}, {{"unit", unit.unit}});
    const MemlockLimit* limit = unit.limit.get();
    if (limit != nullptr && is_low(*limit))
      add(findings, FindingId::MemlockLow, "unit",
          {{"unit", unit.unit}, {"limit", text_of(*limit)}});
  }
  const MemlockLimit* login = survey.login_memlock.get();
  if (login != nullptr && is_low(*login))
    add(findings, FindingId::MemlockLow, "login",
        {{"limit", text_of(*login)}, {"place", login->place}});
}

void check_modules(const Config& config, const Snapshot& snapshot, const Survey& survey,
                   Findings& findings) {
  for (const ModuleBlock& block : survey.blocks.value_or({})) {
    const Module* module = snapshot.module(block.module);
    const char* variant = module != nullptr && module->init.is_known() ? "loaded"
                          : is_required(config, block.module)          ? "required"
                                                                       : "optional";
    add(findings, FindingId::ModuleBlocked, variant,
        {{"module", block.module}, {"how", block.how}});
  }
  for (const FunctionClaim& claim : survey.claims.value_or({}))
    add(findings, FindingId::FunctionClaimed, "later",
        {{"driver", claim.driver}, {"ids", claim.ids}, {"how", claim.how}});
  const Module* driver = snapshot.module(kDriverModule);
  const bool loadable = driver != nullptr && driver->shipped.is(Shipped::Loadable);
  if (survey.secure_boot.is(true) && loadable && survey.driver_signer.is_absent())
    add(findings, FindingId::DriverUnsigned, "running", {});
}

// A line in the kernel's log counts only while the fault lasts: while the adapter has no driver, or
// the driver is not loaded.
void check_complaints(const Snapshot& snapshot, const Survey& survey, Findings& findings) {
  const Module* driver = snapshot.module(kDriverModule);
  const bool loaded = driver == nullptr || !driver->init.is_absent();
  for (const DriverComplaint& complaint : survey.complaints) {
    const Adapter* adapter = snapshot.adapter(complaint.function);
    const bool unbound = adapter != nullptr && adapter->driver.is_absent();
    const auto find = [&](FindingId id, const char* variant) {
      std::optional<std::string> function;
      if (adapter != nullptr) function = adapter->function;
      findings.push_back(make_finding(
          id, variant, {{"function", complaint.function}, {"line", complaint.line}}, function));
    };
    switch (complaint.cause) {
      case DriverComplaint::Cause::Order:
        if (unbound) find(FindingId::ProbeFailed, "order");
        break;
      case DriverComplaint::Cause::NoRoce:
        if (unbound) find(FindingId::ProbeFailed, "no-roce");
        break;
      case DriverComplaint::Cause::Probe:
        if (unbound) find(FindingId::ProbeFailed, "other");
        break;
      case DriverComplaint::Cause::MissingSymbol:
        if (!loaded) find(FindingId::ModuleUnresolved, "missing");
        break;
      case DriverComplaint::Cause::OtherVersion:
        if (!loaded) find(FindingId::ModuleUnresolved, "other-version");
        break;
    }
  }
}

void check_guest(const Snapshot& snapshot, const Survey& survey, Findings& findings) {
  const OsRelease* os = survey.os.get();
  // The distribution of an image says nothing about the kernel that it runs on.
  if (os == nullptr || survey.container.is_known()) return;
  const Support support = support_of(*os, snapshot.kernel.value_or(""));
  if (support == Support::None || support == Support::RoceV1)
    add(findings, FindingId::GuestUnlisted, {},
        {{"os", os->name},
         {"roce", support == Support::None ? "RoCE" : "RoCE v2"},
         {"listed", kListedGuests}});
}

void check_machine(const Survey& survey, Findings& findings) {
  if (const auto others = survey.mellanox.value_or({}); !others.empty())
    add(findings, FindingId::MixedPassthrough, {}, {{"functions", joined(others)}});
  const std::int64_t* off = survey.clock.off_rtc_seconds.get();
  if (off != nullptr && std::abs(*off) >= kClockOffSeconds)
    add(findings, FindingId::ClockOff, {}, {{"offset", std::to_string(std::abs(*off)) + " s"}});
  const KernelCrash* crash = survey.crash.get();
  if (crash == nullptr) return;
  if (crash->in_driver)
    add(findings, FindingId::DriverCrashed, {}, {{"line", crash->line}});
  else
    add(findings, FindingId::KernelCrashed, {},
        {{"where", crash->line.empty() ? "" : ": " + crash->line}});
}

// Reloads that the agent does not wait for at boot. For the others it has a finding (boot-script).
// What unloads the driver before a suspend is as it should be.
void check_reloads(const Snapshot& snapshot, const Survey& survey, Findings& findings) {
  if (survey.container.is_known() || snapshot.adapters.value_or({}).empty()) return;
  std::map<std::string, Values> files;
  for (const ReloadLine& line : survey.reloads) {
    if (line.when == probes::kRunAtSleep) continue;
    const bool known = std::any_of(snapshot.boot_scripts.begin(), snapshot.boot_scripts.end(),
                                   [&](const auto& script) { return script.path == line.file; });
    if (known && line.at_boot) continue;
    Values& values = files[line.file];
    values["file"] = line.file;
    values["when"] = line.when;
    std::string& lines = values["lines"];
    lines += (lines.empty() ? "line " : ", ") + std::to_string(line.line);
  }
  for (auto& [file, values] : files)
    add(findings, FindingId::ReloadElsewhere, {}, std::move(values));
}

// The container has the device, but the device's netdev is in another network namespace.
void check_network(const Snapshot& snapshot, const Survey& survey, Findings& findings) {
  if (!survey.container.is_known()) return;
  for (const Adapter& adapter : snapshot.adapters.value_or({}))
    if (adapter.rdma_device.is_known() && adapter.net_driver.is_known() &&
        adapter.netdev.is_absent())
      findings.push_back(make_finding(FindingId::ContainerNetwork, {},
                                      {{"device", adapter.rdma_device.get()->name}},
                                      adapter.function));
}

}  // namespace

std::vector<std::string> needed_nodes(const Snapshot& snapshot) {
  std::vector<std::string> nodes;
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    const RdmaDevice* rdma = adapter.rdma_device.get();
    if (rdma != nullptr && rdma->uverbs.is_known()) nodes.push_back(*rdma->uverbs.get());
  }
  if (!nodes.empty()) nodes.emplace_back("rdma_cm");
  return nodes;
}

const DeviceNode* find_node(const Survey& survey, const std::string& name) {
  if (const auto* nodes = survey.nodes.get())
    for (const DeviceNode& node : *nodes)
      if (node.name == name) return &node;
  return nullptr;
}

std::vector<Finding> surroundings(const Config& config, const Snapshot& snapshot,
                                  const Survey& survey) {
  Findings findings;
  check_functions(snapshot, survey, findings);
  check_nodes(snapshot, survey, findings);
  check_libraries(survey, findings);
  check_memlock(survey, findings);
  check_modules(config, snapshot, survey, findings);
  check_complaints(snapshot, survey, findings);
  check_guest(snapshot, survey, findings);
  check_other_subnets(snapshot, survey.addresses.value_or({}), findings);
  check_machine(survey, findings);
  check_network(snapshot, survey, findings);
  check_reloads(snapshot, survey, findings);
  check_profiles(survey, findings);
  return findings;
}

}  // namespace pvrdma::doctor
