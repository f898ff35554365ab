#include "agent/ctl/migrate/rendering.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace pvrdma::ctl::moving {

namespace {

using probes::Recipe;
using probes::RecipeFile;
using probes::RecipeForm;
using probes::RecipeLines;
using probes::RecipeStep;

struct Words {
  const char* does;   // the line
  const char* agent;  // instead of it
  const char* name;   // in JSON
};

Words words_of(RecipeStep step) {
  switch (step) {
    case RecipeStep::LoadModule:
      return {"loads a module", "the agent loads it, before vmw_pvrdma", "load-module"};
    case RecipeStep::LoadDriver:
      return {"loads vmw_pvrdma", "the agent loads it last", "load-driver"};
    case RecipeStep::UnloadDriver:
      return {"unloads vmw_pvrdma or what it stands on",
              "the agent reloads it only where nothing gentler helps and nobody uses an adapter",
              "unload-driver"};
    case RecipeStep::WatchPort:
      return {"looks at the ports",
              "the agent does; where what follows needs the adapters, write `pvrdma-agentctl wait`",
              "watch-port"};
    case RecipeStep::BringLinkUp:
      return {"brings the link up", "the agent does", "link-up"};
    case RecipeStep::SetLink:
      return {"sets the link's MTU or address", "the agent does, by its configuration", "set-link"};
    case RecipeStep::RestartStack:
      break;
  }
  return {"restarts the RDMA services", "the agent loads the modules itself", "restart-services"};
}

const char* form_name(RecipeForm form) {
  switch (form) {
    case RecipeForm::Script:
      return "script";
    case RecipeForm::Crontab:
      return "crontab";
    case RecipeForm::Unit:
      return "unit";
    case RecipeForm::ModuleList:
      break;
  }
  return "module-list";
}

// Each once, in order.
std::vector<RecipeStep> steps_of(const RecipeLines& lines) {
  std::vector<RecipeStep> steps;
  for (const RecipeStep step : lines.steps)
    if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
  return steps;
}

std::string joined_words(const RecipeLines& lines, const char* Words::*part) {
  std::string text;
  for (const RecipeStep step : steps_of(lines))
    text += (text.empty() ? "" : "; ") + std::string{words_of(step).*part};
  return text;
}

Json to_json(const RecipeLines& lines) {
  Json does = Json::array();
  for (const RecipeStep step : steps_of(lines)) does.push_back(words_of(step).name);
  return {{"first", lines.first},
          {"last", lines.last},
          {"text", lines.text},
          {"does", std::move(does)},
          {"agent", joined_words(lines, &Words::agent)},
          {"left", lines.left}};
}

std::string heading(const RecipeFile& file) {
  std::string text = printable(file.path);
  if (file.form == RecipeForm::ModuleList) return text + ": read at every boot";
  if (!file.by.empty()) text += ", run by " + printable(file.by);
  if (!file.unit.empty() && file.form != RecipeForm::Unit) text += ", of " + printable(file.unit);
  return text + (file.at_boot ? ": run at every boot" : ": not run at boot");
}

std::string render_lines(const RecipeLines& lines, const Style& style) {
  constexpr std::size_t kIndent = 8;
  const std::string indent(kIndent, ' ');
  std::string text = padded("  " + std::to_string(lines.first), kIndent);
  for (const char letter : lines.text) {
    if (letter == '\n')
      text += "\n" + indent;
    else
      text += printable(std::string(1, letter)) == std::string(1, letter) ||
                      (letter & '\x80') != 0 || letter == '\t'
                  ? std::string(1, letter)
                  : printable(std::string(1, letter));
  }
  const std::string says =
      lines.left.empty()
          ? joined_words(lines, &Words::does) + ": " + joined_words(lines, &Words::agent)
          : joined_words(lines, &Words::does) + "; left as it is: " + printable(lines.left);
  return text + "\n" + indent + wrapped(says, style.width, kIndent) + "\n";
}

}  // namespace

Json to_json(const Recipe& recipe, const std::vector<Change>& changes) {
  Json files = Json::array();
  for (const RecipeFile& file : recipe.files) {
    Json lines = Json::array();
    for (const RecipeLines& one : file.reading.lines) lines.push_back(to_json(one));
    files.push_back({{"path", file.path},
                     {"form", form_name(file.form)},
                     {"run_by", file.by},
                     {"unit", file.unit},
                     {"at_boot", file.at_boot},
                     {"retires_unit", is_to_be_retired(file)},
                     {"lines", std::move(lines)}});
  }
  Json unreadable = Json::array();
  for (const Error& error : recipe.unreadable) unreadable.push_back(error.message());
  Json done = Json::array();
  for (const Change& change : changes)
    done.push_back({{"path", change.path},
                    {"what", change.what},
                    {"backup", change.backup},
                    {"error", change.failed() ? change.error.message() : ""}});
  return {{"files", std::move(files)},
          {"unreadable", std::move(unreadable)},
          {"changes", std::move(done)}};
}

std::string render_recipe(const Recipe& recipe, const Style& style) {
  std::string text;
  for (const RecipeFile& file : recipe.files) {
    text += (text.empty() ? "" : "\n") + heading(file) + "\n";
    for (const RecipeLines& one : file.reading.lines) text += render_lines(one, style);
    if (is_to_be_retired(file))
      text += "  " +
              wrapped(printable(file.unit) +
                          " is for nothing else: it is not edited, but kept from being started",
                      style.width, 2) +
              "\n";
    if (file.reading.trouble_line != 0)
      text += "  " +
              wrapped("From line " + std::to_string(file.reading.trouble_line) +
                          " on it is not understood; look for yourself.",
                      style.width, 2) +
              "\n";
  }
  return text;
}

std::string render_changes(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    if (change.failed()) continue;
    text += printable(change.path) + ": " + printable(change.what);
    text += change.backup.empty() ? "\n" : "; as it was: " + printable(change.backup) + "\n";
  }
  return text;
}

std::vector<std::string> failures(const std::vector<Change>& changes) {
  std::vector<std::string> lines;
  for (const Change& change : changes)
    if (change.failed())
      lines.push_back(printable(change.path + " is as it was: " + change.error.message()));
  return lines;
}

}  // namespace pvrdma::ctl::moving
