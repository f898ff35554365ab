// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of `doctor` as text and as JSON. Pure.
#include "agent/tools/doctor/examination.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/ctl/json_text.hpp"
#include "agent/ctl/rendering.hpp"
#include "agent/model/health.hpp"

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kVerdictColumns = 9;
constexpr std::size_t kAreaColumns = 11;

struct UsableWords {
  const char* id;  // for programs
  const char* text;
  Colour colour;
};
const UsableWords& words_for(Usable usable) {
  // The index is the number of Usable.
  static constexpr std::array<UsableWords, 4> kWords{
      {{"yes", "USABLE", Colour::Green},
       {"with-warnings", "USABLE WITH WARNINGS", Colour::Yellow},
       {"no", "NOT USABLE", Colour::Red},
       {"unknown", "UNKNOWN", Colour::Red}}};
  return kWords.at(static_cast<std::size_t>(usable));
}

std::string mover(std::optional<Actor> actor) {
  if (!actor) return "nothing is to be done";
  switch (*actor) {
    case Actor::Host:
      return "next move: the vSphere administrator's (`pvrdma-agentctl doctor --host-admin` "
             "prints what to forward)";
    case Actor::Image:
      return "next move: the image's builder";
    case Actor::Agent:
      return "the agent goes on by itself";
    case Actor::Guest:
      break;
  }
  return "next move: yours, in this guest";
}

std::string headline(const Examination& examination, const Style& style) {
  const Usable found = usable(examination);
  const UsableWords& word = words_for(found);
  std::string rest = mover(next_move(examination));
  // The state is degraded or converging, and no finding explains it.
  if (found != Usable::Yes && !next_move(examination))
    rest = std::string{"the state is "} + to_string(examination.state);
  if (const std::string* container = examination.survey.container.get())
    rest += "; in a container of " + printable(*container);
  const std::size_t indent = columns(word.text) + 2;
  return painted(word.text, word.colour, style) + "  " + wrapped(rest, style.width, indent) + "\n";
}

Colour colour_of(std::string_view verdict) {
  if (verdict == "good") return Colour::Green;
  if (verdict == "error") return Colour::Red;
  return verdict == "info" ? Colour::Bold : Colour::Yellow;
}

std::string check_rows(const doctor::Check& check, std::string_view verdict, const Style& style) {
  const std::size_t indent = kVerdictColumns + kAreaColumns;
  std::string rows;
  const auto add = [&](const std::string& line) {
    const std::string front = rows.empty() ? painted(padded(std::string{verdict}, kVerdictColumns),
                                                     colour_of(verdict), style) +
                                                 padded(std::string{check.area}, kAreaColumns)
                                           : std::string(indent, ' ');
    rows += front + wrapped(printable(line), style.width, indent) + "\n";
  };
  for (const std::string& line : check.evidence) add(line);
  for (const std::string& line : check.unread) add("not known: " + line);
  return rows;
}

// Where a setting is looked at and changed.
std::string places(const std::string& menu, const std::vector<std::string>& commands,
                   std::size_t width) {
  std::string out;
  if (!menu.empty()) out += "   vSphere Client: " + wrapped(menu, width, 19) + "\n";
  for (const std::string& command : commands) out += "   ESXi shell: " + command + "\n";
  return out;
}

}  // namespace

std::string render_examination(const Examination& examination, const Style& style) {
  std::string out = headline(examination, style);
  for (const Notes notes : {Notes::Without, Notes::Only})
    if (const std::string findings =
            render_findings(examination.findings, {notes, true, nullptr}, style);
        !findings.empty())
      out += "\n" + findings;
  out += "\n";
  for (const doctor::Check& check : examination.checks)
    out += check_rows(check, doctor::verdict(check, examination.findings), style);
  return out;
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
  return {{"usable", words_for(usable(examination)).id},
          {"next_move", actor ? Json(pvrdma::to_string(*actor)) : Json(nullptr)},
          {"state", pvrdma::to_string(examination.state)},
          {"asked_agent", examination.by_agent},
          {"container", container != nullptr ? Json(*container) : Json(nullptr)},
          {"findings", std::move(findings)},
          {"checks", std::move(checks)}};
}

std::string render_ticket(const Ticket& ticket, std::size_t width) {
  const VmIdentity& vm = ticket.vm;
  std::string out =
      "PVRDMA in VM " + printable(vm.host_name) + ": for the vSphere administrator\n\n";
  out += "Guest:    " + wrapped(printable(vm.system), width, 10) + "\n";
  if (!vm.uuid.empty()) out += "UUID:     " + printable(vm.uuid) + "\n";
  for (const std::string& adapter : vm.adapters) out += "Adapter:  " + printable(adapter) + "\n";
  if (ticket.troubles.empty()) out += "\nThe guest sees no fault on the host's side.\n";
  for (const doctor::HostTrouble& trouble : ticket.troubles) {
    out += "\n" + wrapped(printable(trouble.what), width, 0) + "\n";
    if (trouble.causes.size() > 1) out += "The most likely cause first:\n";
    std::size_t rank = 0;
    for (const doctor::HostCause& cause : trouble.causes)
      out += "\n" + padded(std::to_string(++rank) + ".", 3) +
             wrapped(printable(cause.what + " (" + cause.because + ")"), width, 3) + "\n" +
             places(cause.menu, cause.commands, width);
  }
  std::string_view area;
  for (const doctor::HostSetting& setting : ticket.checklist) {
    if (area.empty()) out += "\nThe whole checklist, from the wire to the VM:\n";
    if (area != setting.area) out += "\n" + std::string{setting.area} + "\n";
    area = setting.area;
    const std::string seen = setting.seen.empty() ? "" : " (" + setting.seen + ")";
    out += "-  " + wrapped(printable(setting.setting + seen), width, 3) + "\n" +
           places(setting.menu, setting.commands, width);
  }
  return out;
}

Json ticket_json(const Ticket& ticket) {
  Json list = Json::array();
  for (const doctor::HostTrouble& trouble : ticket.troubles) {
    Json causes = Json::array();
    for (const doctor::HostCause& cause : trouble.causes)
      causes.push_back({{"what", cause.what},
                        {"because", cause.because},
                        {"commands", cause.commands},
                        {"menu", cause.menu}});
    list.push_back({{"id", to_string(trouble.id)},
                    {"adapter", trouble.adapter ? Json(*trouble.adapter) : Json(nullptr)},
                    {"summary", trouble.what},
                    {"causes", std::move(causes)}});
  }
  Json checklist = Json::array();
  for (const doctor::HostSetting& setting : ticket.checklist)
    checklist.push_back({{"area", setting.area},
                         {"setting", setting.setting},
                         {"seen", or_null(printable(setting.seen))},
                         {"commands", setting.commands},
                         {"menu", or_null(setting.menu)}});
  return {{"vm",
           {{"host_name", ticket.vm.host_name},
            {"system", ticket.vm.system},
            {"uuid", ticket.vm.uuid},
            {"adapters", ticket.vm.adapters}}},
          {"troubles", std::move(list)},
          {"checklist", std::move(checklist)}};
}

}  // namespace pvrdma::ctl
