#include "agent/tools/doctor/examination.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "agent/config/config_files.hpp"
#include "agent/ctl/fields.hpp"
#include "agent/ctl/local.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/plan/findings.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "probes/unit_files.hpp"

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kAnswerWithin = std::chrono::seconds{2};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Some without the release: the module index is then not looked for.
Survey survey_of(const DoctorOptions& options, const Config& config, const std::string& kernel) {
  probes::SurveyOptions wanted;
  wanted.root = options.root;
  wanted.kernel = kernel;
  wanted.modules = config.modules.before;
  wanted.modules.emplace_back(kNetModule);
  wanted.modules.emplace_back(kDriverModule);
  wanted.units = options.units;
  wanted.library_path = environment("LD_LIBRARY_PATH");
  wanted.module_lookup = options.helpers.module_lookup;
  Survey seen = probes::survey(wanted);
  // As the forecast of the next boot has it. In a container no login is of systemd's.
  if (seen.login_memlock.is_absent() && !seen.container.is_known())
    seen.login_memlock = probes::login_memlock_on_disk(options.root);
  return seen;
}

void take_findings(Health health, Examination& examination) {
  auto& all = examination.findings;
  all.insert(all.end(), std::make_move_iterator(health.findings.begin()),
             std::make_move_iterator(health.findings.end()));
  examination.state = health.state;
}

void take_answer(const NoAnswer& trouble, Examination& examination) {
  if (trouble.not_running() && examination.survey.container.is_known()) return;
  Finding finding = finding_of(trouble);
  finding.severity = Severity::Warning;  // what it would say, our own look says
  finding.summary += ".";
  examination.findings.push_back(std::move(finding));
}

void conclude_alone(const Result<LoadedConfig>& loaded, const NoAnswer& trouble,
                    Examination& examination) {
  if (!loaded) examination.findings.push_back(findings::config_bad(loaded.error().message()));
  LocalLook look =
      conclude_locally(examination.config, loaded ? loaded->left_out : "", examination.snapshot);
  take_findings(std::move(look.health), examination);
  if (examination.survey.container.is_known())
    std::erase_if(examination.findings, [](const Finding& finding) {
      return !concerns(finding.id, Concern::Containers);
    });
  take_answer(trouble, examination);
}

const char* to_string(Usable usable) {
  switch (usable) {
    case Usable::Yes:
      return "yes";
    case Usable::WithWarnings:
      return "with-warnings";
    case Usable::No:
      return "no";
    case Usable::Unknown:
      break;
  }
  return "unknown";
}

}  // namespace

Examination examine(const Settings& settings, const DoctorOptions& options) {
  Examination examination;
  const auto loaded = load_config(options.root);
  if (loaded) examination.config = loaded->config;
  auto answer = ask_health(settings.socket, kAnswerWithin);
  // First what touches no device: a crash of the driver is told before anything can hang on it.
  const auto kernel = read_attribute(options.root / "/proc/sys/kernel/osrelease");
  examination.survey = survey_of(options, examination.config, kernel.value_or(std::string{}));
  const KernelCrash* crash = examination.survey.crash.get();
  const bool has_crashed = crash != nullptr && crash->in_driver;
  if (!has_crashed)
    examination.snapshot =
        observe_locally(options.root, examination.config,
                        answer ? options.helpers.without_port_query() : options.helpers);
  examination.by_agent = answer.has_value();
  if (answer)
    take_findings(std::move(answer->value), examination);
  else if (!has_crashed)
    conclude_alone(loaded, answer.error(), examination);
  auto more = doctor::surroundings(examination.snapshot, examination.survey);
  auto& all = examination.findings;
  // Says the same with less.
  if (std::any_of(more.begin(), more.end(),
                  [](const Finding& finding) { return finding.id == FindingId::NoRdmaFunction; }))
    std::erase_if(all, [](const Finding& finding) { return finding.id == FindingId::NoAdapter; });
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  std::stable_sort(all.begin(), all.end(), [](const Finding& left, const Finding& right) {
    return left.severity > right.severity;
  });
  examination.checks = doctor::checks(examination.config, examination.snapshot, examination.survey);
  return examination;
}

Usable usable(const Examination& examination) {
  const Severity worst =
      examination.findings.empty() ? Severity::Info : examination.findings.front().severity;
  if (worst == Severity::Error || examination.state == State::Failed) return Usable::No;
  const auto* adapters = examination.snapshot.adapters.get();
  if (adapters == nullptr) return Usable::Unknown;
  const bool is_quiet = worst == Severity::Info;
  if (examination.survey.container.is_known()) return is_quiet ? Usable::Yes : Usable::WithWarnings;
  return is_quiet && examination.state == State::Ready ? Usable::Yes : Usable::WithWarnings;
}

std::optional<Actor> next_move(const Examination& examination) {
  const auto& findings = examination.findings;
  if (findings.empty() || findings.front().severity == Severity::Info) return std::nullopt;
  return findings.front().actor;
}

Json to_json(const Examination& examination) {
  Json findings = Json::array();
  for (const Finding& finding : examination.findings) findings.push_back(with_commands(finding));
  Json checks = Json::array();
  for (const doctor::Check& check : examination.checks)
    checks.push_back({{"area", check.area},
                      {"verdict", doctor::verdict(check, examination.findings)},
                      {"evidence", check.evidence},
                      {"unreadable", check.unread}});
  const auto actor = next_move(examination);
  const std::string* container = examination.survey.container.get();
  return {{"usable", to_string(usable(examination))},
          {"next_move", actor ? Json(pvrdma::to_string(*actor)) : Json(nullptr)},
          {"state", pvrdma::to_string(examination.state)},
          {"asked_agent", examination.by_agent},
          {"container", container != nullptr ? Json(*container) : Json(nullptr)},
          {"findings", std::move(findings)},
          {"checks", std::move(checks)}};
}

}  // namespace pvrdma::ctl
