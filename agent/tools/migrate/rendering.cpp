// SPDX-License-Identifier: GPL-2.0-or-later
// The findings and changes of `migrate`, as JSON and as text for an administrator. Pure.
#include "agent/tools/migrate/change.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/tools/migrate/edit.hpp"

namespace pvrdma::ctl::migration {

namespace {

using probes::LineKind;
using probes::Recipe;
using probes::RecipeFile;
using probes::RecipeForm;
using probes::RecipeLine;

const char* form_name(RecipeForm form) {
  constexpr std::array kNames{"script",          "crontab",    "crontab",    "unit",
                              "module-list",     "udev-rules", "interfaces", "cloud-config",
                              "modprobe-config", "settings"};
  return kNames.at(static_cast<std::size_t>(form));
}

const char* kind_name(LineKind kind) {
  return kind == LineKind::Driver ? "driver" : kind == LineKind::Link ? "link" : "port";
}

std::string advice_for(const RecipeLine& line) {
  switch (line.kind) {
    case LineKind::Link:
      return "by hand: the agent sets what its configuration has for the adapter";
    case LineKind::Port:
      return "by hand: the agent watches the ports; where the next commands need the adapters, "
             "write `pvrdma-agentctl wait`";
    default:
      break;
  }
  if (line.by_hand.empty()) return "the agent does this where it is needed";
  return (line.by_hand == probes::kHarmless ? "" : "by hand: ") + line.by_hand;
}

bool runs(const RecipeFile& file) { return file.in_effect || file.form == RecipeForm::ModuleList; }

std::string heading(const RecipeFile& file) {
  std::string text = printable(file.path);
  if (!file.by.empty()) text += ", run by " + printable(file.by);
  if (!file.unit.empty() && file.form != RecipeForm::Unit) text += ", of " + printable(file.unit);
  if (runs(file)) return text + ": " + file.when;
  return text + (file.form == RecipeForm::Unit ? ": not enabled" : ": not executable");
}

std::string render_line(const RecipeLine& line, const Style& style) {
  constexpr std::size_t kIndent = 8;
  return padded("  " + std::to_string(line.number), kIndent) + printable(line.text) + "\n" +
         std::string(kIndent, ' ') + wrapped(advice_for(line), style.width, kIndent) + "\n";
}

Json to_json(const RecipeFile& file) {
  Json lines = Json::array();
  for (const RecipeLine& line : file.lines)
    lines.push_back({{"line", line.number},
                     {"text", printable(line.text)},
                     {"kind", kind_name(line.kind)},
                     {"moved_by_apply", is_to_be_moved(line)},
                     {"advice", advice_for(line)}});
  return {{"path", printable(file.path)},
          {"form", form_name(file.form)},
          {"run_by", printable(file.by)},
          {"unit", printable(file.unit)},
          {"at_boot", runs(file) && std::ranges::any_of(file.lines, &RecipeLine::at_boot)},
          {"when", file.when},
          {"retires_unit", file.retires_unit},
          {"lines", std::move(lines)}};
}

}  // namespace

Json to_json(const Recipe& recipe, const std::vector<LinkSettings>& links,
             const std::vector<Change>& changes) {
  Json files = Json::array(), others = Json::array(), unreadable = Json::array();
  for (const RecipeFile& file : recipe.files) files.push_back(to_json(file));
  for (const probes::NotOfRoot& one : recipe.not_of_root)
    others.push_back({{"path", printable(one.path)},
                      {"run_by", printable(one.by)},
                      {"why", printable(one.why)},
                      {"at_boot", one.at_boot}});
  for (const Error& error : recipe.unreadable) unreadable.push_back(printable(error.message()));
  Json adapters = Json::array();
  for (const LinkSettings& link : links)
    adapters.push_back({{"netdev", link.netdev},
                        {"mac", link.mac},
                        {"mtu", link.mtu ? Json(*link.mtu) : Json()},
                        {"addresses", link.addresses},
                        {"from", link.from},
                        {"netplan", link.netplan}});
  Json done = Json::array();
  for (const Change& change : changes)
    done.push_back({{"path", printable(change.path)},
                    {"what", printable(change.what)},
                    {"backup", printable(change.backup)},
                    {"by_hand", change.by_hand},
                    {"error", change.failed() ? printable(change.error.message()) : ""}});
  return {{"files", std::move(files)},           {"not_of_root", std::move(others)},
          {"adapters", std::move(adapters)},     {"toml", to_toml(links)},
          {"unreadable", std::move(unreadable)}, {"changes", std::move(done)}};
}

std::string render_recipe(const Recipe& recipe, const Style& style) {
  std::string text;
  for (const RecipeFile& file : recipe.files) {
    text += (text.empty() ? "" : "\n") + heading(file) + "\n";
    for (const RecipeLine& line : file.lines) text += render_line(line, style);
    if (file.retires_unit)
      text += "  " +
              wrapped(printable(file.unit) +
                          " does nothing else: it is not edited, but kept from being started",
                      style.width, 2) +
              "\n";
  }
  for (const probes::NotOfRoot& one : recipe.not_of_root)
    text +=
        (text.empty() ? "" : "\n") +
        wrapped(printable(one.path) + (one.by.empty() ? "" : ", run by " + printable(one.by)) +
                    ": by hand: not opened, as it is not root's alone (" + printable(one.why) + ")",
                style.width, 2) +
        "\n";
  return text;
}

std::string render_links(const std::vector<LinkSettings>& links, const Style& style) {
  if (links.empty()) return {};
  std::string text = wrapped(
                         "In place of the commands that set links, write into a file below "
                         "/etc/pvrdma-agent/pvrdma-agent.toml.d, and take them out by hand:",
                         style.width, 0) +
                     "\n\n" + to_toml(links);
  for (const LinkSettings& link : links)
    for (const std::string& file : link.netplan)
      text += "\n" +
              wrapped(printable(file) + " goes on configuring " + link.netdev +
                          " by itself; with manage = \"auto\" the agent leaves the link to it.",
                      style.width, 0) +
              "\n";
  return text;
}

std::string render_changes(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    if (change.by_hand)
      text += printable(change.path) + ": by hand: unchanged, because " +
              printable(change.error.message()) + "\n";
    if (change.failed()) continue;
    text += printable(change.path) + ": " + printable(change.what);
    text += change.backup.empty() ? "\n" : "; backup: " + printable(change.backup) + "\n";
  }
  return text;
}

std::vector<std::string> failures(const std::vector<Change>& changes) {
  std::vector<std::string> lines;
  for (const Change& change : changes)
    if (change.failed() && !change.by_hand)
      lines.push_back(printable(change.path + " is unchanged: " + change.error.message()));
  return lines;
}

}  // namespace pvrdma::ctl::migration
