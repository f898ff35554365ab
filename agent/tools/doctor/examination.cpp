// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/examination.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/config/config_files.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/local.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "agent/tools/survey/driver_packages.hpp"

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kAnswerWithin = std::chrono::seconds{2};

void take_health(Health health, Examination& examination) {
  append(examination.findings, std::move(health.findings));
  examination.state = health.state;
}

// Concludes from our own look, and adds the reason why no agent answered; a container has no agent.
void conclude_alone(const LoadedConfig& loaded, const NoAnswer& trouble, Examination& examination) {
  auto& all = examination.findings;
  const bool contained = examination.survey.container.is_known();
  take_health(conclude_locally(loaded, examination.snapshot).health, examination);
  if (contained)
    std::erase_if(
        all, [](const Finding& finding) { return !concerns(finding.id, Concern::Containers); });
  if (contained && trouble.not_running()) return;
  Finding finding = finding_of(trouble);
  finding.severity = Severity::Warning;  // our own look has found what the agent would say
  finding.summary += ".";
  all.push_back(std::move(finding));
}

// Whether the agent has found the same. Where it could not read modprobe.d it names no line (how).
bool is_block_among(const std::vector<Finding>& findings, const Finding& one) {
  return one.id == FindingId::ModuleBlocked &&
         std::ranges::any_of(findings, [&](const Finding& other) {
           const auto module = other.values.find("module");
           return other.id == one.id && other.values.contains("how") &&
                  module != other.values.end() && module->second == one.values.at("module");
         });
}

// Known not to be ACTIVE. A port that could not be read may be ACTIVE.
bool lacks_active_port(const Adapter& adapter) {
  const RdmaDevice* device = adapter.rdma_device.get();
  if (device == nullptr) return adapter.rdma_device.is_absent();
  return device->port.state.is_known() && !device->port.state.is(PortState::Active);
}

}  // namespace

Examination examine(const Settings& settings, const DoctorOptions& options) {
  Examination examination;
  const LoadedConfig loaded = load_config_or_safe(options.root);
  const Config& config = loaded.config;
  auto answer = ask_health(settings.socket, kAnswerWithin);
  // The survey touches no device and comes first: after a crash of the driver a device could hang
  // us.
  examination.survey = probes::survey(options, config);
  const KernelCrash* crash = examination.survey.crash.get();
  const bool has_crashed = crash != nullptr && crash->in_driver;
  if (!has_crashed)
    examination.snapshot = observe_locally(
        options.root, config, answer ? options.helpers.without_port_query() : options.helpers);
  examination.by_agent = answer.has_value();
  if (answer)
    take_health(std::move(answer->value), examination);
  else if (!has_crashed)
    conclude_alone(loaded, answer.error(), examination);
  auto more = doctor::surroundings(config, examination.snapshot, examination.survey);
  auto& all = examination.findings;
  std::erase_if(more, [&](const Finding& finding) { return is_block_among(all, finding); });
  // NoRdmaFunction says the same as NoAdapter, with more detail.
  if (std::any_of(more.begin(), more.end(),
                  [](const Finding& finding) { return finding.id == FindingId::NoRdmaFunction; }))
    std::erase_if(all, [](const Finding& finding) { return finding.id == FindingId::NoAdapter; });
  append(all, std::move(more));
  // The distribution of an image says nothing about the kernel that it runs on.
  if (const OsRelease* os = examination.survey.os.get();
      os != nullptr && !examination.survey.container.is_known())
    name_driver_package(*os, all);
  std::stable_sort(all.begin(), all.end(), is_worse);
  examination.checks = doctor::checks(config, examination.snapshot, examination.survey);
  return examination;
}

Usable usable(const Examination& examination) {
  const Severity worst =
      examination.findings.empty() ? Severity::Info : examination.findings.front().severity;
  if (worst == Severity::Error || examination.state == State::Failed) return Usable::No;
  const auto* adapters = examination.snapshot.adapters.get();
  if (adapters == nullptr || examination.state == State::Unknown) return Usable::Unknown;
  // A state that may still pass, such as converging, does not make RDMA usable now.
  if (examination.state != State::Ready && !examination.survey.container.is_known() &&
      !adapters->empty() && std::ranges::all_of(*adapters, lacks_active_port))
    return Usable::No;
  // Inside a container not all is visible that makes an adapter ready; an agent outside sees it.
  const bool works = examination.state == State::Ready ||
                     (examination.survey.container.is_known() && !examination.by_agent);
  return works && worst == Severity::Info ? Usable::Yes : Usable::WithWarnings;
}

std::optional<Actor> next_move(const Examination& examination) {
  const auto& findings = examination.findings;
  if (findings.empty() || findings.front().severity == Severity::Info) return std::nullopt;
  // Without an answer no agent is known to act. A container's agent is outside of it.
  const Actor actor = findings.front().actor;
  const bool has_agent = examination.by_agent || examination.survey.container.is_known();
  return actor == Actor::Agent && !has_agent ? Actor::Guest : actor;
}

}  // namespace pvrdma::ctl
