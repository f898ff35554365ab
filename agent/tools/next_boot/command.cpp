// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --next-boot`: reads the files, judges them, and prints the result as JSON or as text.
#include "agent/tools/next_boot/command.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/config/config_files.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/plan/findings.hpp"
#include "agent/tools/next_boot/forecast.hpp"
#include "agent/tools/next_boot/judge.hpp"
#include "agent/tools/survey/driver_packages.hpp"
#include "agent/tools/survey/machine.hpp"

namespace pvrdma::ctl {

namespace {

constexpr int kExitWarnings = 1;
constexpr int kExitNoDriver = 2;
constexpr int kForecastVersion = 1;
constexpr std::size_t kNameWidth = 13;  // two blanks, the name of a check, and blanks behind it

// The forms of an outlook.
struct OutlookForm {
  const char* word;     // in JSON
  const char* verdict;  // of a kernel
  // The mark before a check, for users without colours: "!" for a bad one, "?" for an unknown one.
  const char* mark;
  Colour colour;
};
OutlookForm form_of(Outlook outlook) {
  switch (outlook) {
    case Outlook::Yes:
      return {"yes", "DRIVER", "  ", Colour::Green};
    case Outlook::No:
      return {"no", "NO DRIVER", "! ", Colour::Red};
    case Outlook::Unknown:
      break;
  }
  return {"unknown", "NOT KNOWN", "? ", Colour::Yellow};
}

Json to_json(const std::vector<ForecastCheck>& checks) {
  Json list = Json::array();
  for (const ForecastCheck& check : checks)
    list.push_back(
        {{"check", check.name}, {"outlook", form_of(check.outlook).word}, {"says", check.says}});
  return list;
}

std::string rows(const std::vector<ForecastCheck>& checks, const Style& style) {
  std::string out;
  std::string last;
  for (const ForecastCheck& check : checks) {
    const OutlookForm form = form_of(check.outlook);
    const std::string name = check.name == last ? "" : check.name;
    last = check.name;
    out += painted(form.mark, form.colour, style) + padded(name, kNameWidth - 2) +
           wrapped(printable(check.says), style.width, kNameWidth) + "\n";
  }
  return out;
}

std::string kernel_block(const KernelOutlook& kernel, const Style& style) {
  std::string tags;
  if (kernel.next) tags = "next";
  if (kernel.running) tags += std::string{tags.empty() ? "" : ", "} + "running";
  const OutlookForm form = form_of(kernel.driver);
  return painted(form.verdict, form.colour, style) + "  " + printable(kernel.release) +
         (tags.empty() ? "" : " (" + tags + ")") + "\n" + rows(kernel.checks, style);
}

std::string headline(const Field<NextKernel>& next) {
  if (const NextKernel* known = next.get())
    return "The next boot takes " + known->release + ": " + known->by + ".";
  if (const Error* error = next.error())
    return "Which kernel the next boot takes could not be read: " + error->message() + ".";
  return "The files do not tell which kernel the next boot takes.";
}

Json to_json(const NextBoot& outcome, const Field<NextKernel>& next) {
  Json kernels = Json::array();
  for (const KernelOutlook& kernel : outcome.kernels)
    kernels.push_back({{"release", kernel.release},
                       {"next", kernel.next},
                       {"running", kernel.running},
                       {"driver", form_of(kernel.driver).word},
                       {"checks", to_json(kernel.checks)}});
  Json findings = Json::array();
  for (const Finding& finding : outcome.findings) findings.push_back(with_commands(finding));
  const NextKernel* known = next.get();
  return {{"version", kForecastVersion},
          {"driver", form_of(outcome.driver).word},
          {"next",
           known == nullptr ? Json(nullptr) : Json{{"release", known->release}, {"by", known->by}}},
          {"kernels", std::move(kernels)},
          {"machine", to_json(outcome.machine)},
          {"findings", std::move(findings)},
          {"unreadable", outcome.unreadable}};
}

// A block for each kernel, one for the machine, then the findings.
std::string rendered(const NextBoot& outcome, const Field<NextKernel>& next, const Style& style) {
  std::string out = wrapped(printable(headline(next)), style.width, 0) + "\n";
  for (const KernelOutlook& kernel : outcome.kernels) out += "\n" + kernel_block(kernel, style);
  if (!outcome.machine.empty())
    out += "\n" + painted("MACHINE", Colour::Bold, style) + "\n" + rows(outcome.machine, style);
  for (const Notes notes : {Notes::Without, Notes::Only})
    if (const std::string text = render_findings(outcome.findings, {notes, true, nullptr}, style);
        !text.empty())
      out += "\n" + text;
  return out;
}

int exit_code_for(const NextBoot& outcome) {
  if (outcome.driver == Outlook::No) return kExitNoDriver;
  if (outcome.kernels.empty()) return kExitUnknown;
  const auto warns = [](const Finding& finding) { return finding.severity != Severity::Info; };
  if (std::ranges::any_of(outcome.findings, warns)) return kExitWarnings;
  return outcome.unreadable.empty() ? 0 : kExitUnknown;
}

}  // namespace

int next_boot(const Settings& settings, const Console& console, const NextBootOptions& options) {
  // The agent starts with the safe subset of an invalid configuration as well.
  const LoadedConfig loaded = load_config_or_safe(Root{options.root});
  const Forecast forecast = probes::look_ahead(loaded.config, options);
  NextBoot outcome = judge(loaded.config, forecast);
  if (!loaded.error.empty()) findings::put_config_bad(outcome.findings, loaded.error, true);
  if (const auto os = probes::os_release(Root{options.root}); os.is_known())
    name_driver_package(*os.get(), outcome.findings);
  if (!settings.json)
    for (const std::string& error : outcome.unreadable)
      console.complain("not all could be looked at: " + printable(error));
  const bool printed =
      console.print(settings.json ? dumped(to_json(outcome, forecast.next)) + "\n"
                                  : rendered(outcome, forecast.next, console.style()));
  return printed ? exit_code_for(outcome) : kExitUnknown;
}

}  // namespace pvrdma::ctl
