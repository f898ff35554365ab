// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/lines.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

constexpr const char* kLoadsDriver =
    "it may load vmw_pvrdma before its predecessors; the agent loads it last, so the line can be "
    "removed";
// systemd-modules-load removes carriage returns (tried with 252), sysvinit's script does not.
constexpr const char* kCarriageReturn =
    "its lines end in a carriage return, as DOS writes them: systemd drops it, but a script that "
    "reads the file takes it into the name, and such a line loads nothing; take them out by "
    "`sed -i 's/\\r$//'`, or all the lines, as the agent loads the modules";

// The command in a line of a file.
struct Command {
  std::string text;
  bool at_boot = true;
  std::string by_hand{};  // why it needs a person in any case; empty: its words decide
};

// Removes the first field and the blanks around it from the front.
std::string_view take_field(std::string_view& rest) {
  rest = trimmed(rest);
  const auto end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view field = rest.substr(0, end);
  rest = trimmed(rest.substr(end));
  return field;
}

std::optional<Command> of_crontab(std::string_view line, bool with_user) {
  line = trimmed(line);
  if (line.starts_with('-')) line.remove_prefix(1);  // cronie: the run is not logged
  const std::string_view begin = line;
  const std::string_view first = take_field(line);
  if (!first.starts_with('@'))
    for (unsigned more = 0; more < 4; ++more) take_field(line);
  const std::string_view times = trimmed(begin.substr(0, begin.size() - line.size()));
  if (with_user) take_field(line);
  if (line.empty()) return std::nullopt;
  if (first == "@reboot") return Command{std::string{line}};
  return Command{std::string{line}, false,
                 "cron runs it again and again (" + std::string{times} + "): a loop"};
}

// `sh -c 'TEXT'` -> TEXT, if TEXT contains no quotes itself.
std::string_view text_of_shell(std::string_view command) {
  for (const std::string_view shell : {"/bin/sh", "/usr/bin/sh", "/bin/bash", "/usr/bin/bash"}) {
    if (!command.starts_with(shell)) continue;
    std::string_view rest = trimmed(command.substr(shell.size()));
    if (!rest.starts_with("-c ")) continue;
    rest = trimmed(rest.substr(2));
    if (rest.size() < 2 || rest.front() != rest.back()) continue;
    if (rest.front() != '\'' && rest.front() != '"') continue;
    return rest.substr(1, rest.size() - 2);
  }
  return command;
}

std::optional<Command> of_unit(std::string_view line) {
  constexpr std::array<std::string_view, 4> kAtStart{"ExecCondition", "ExecStart", "ExecStartPre",
                                                     "ExecStartPost"};
  const std::string_view key = trimmed(line.substr(0, line.find('=')));
  if (!key.starts_with("Exec") || key.size() == line.size()) return std::nullopt;
  std::string_view value = trimmed(line.substr(line.find('=') + 1));
  value.remove_prefix(std::min(value.find_first_not_of("-@:+!|"), value.size()));
  if (value.empty()) return std::nullopt;  // an empty value resets the earlier ones
  const std::string text{text_of_shell(value)};
  if (contains(kAtStart, key)) return Command{text};
  return Command{text, false,
                 "systemd runs it when the unit is stopped or reloaded (" + std::string{key} +
                     "=), whatever uses an adapter then"};
}

// The values of RUN and similar keys, one after the other; the whole rule where it writes to an
// attribute itself.
Command of_udev_rule(std::string_view line) {
  Command command;
  std::string rule{line};
  for (std::size_t at = 0; (at = rule.find("\\\"", at)) != std::string::npos;)
    rule.replace(at, 2, "'");
  for (std::string_view rest = rule; !rest.empty();) {
    const std::string_view key = trimmed(cut(rest, '"'));
    const std::string_view value = cut(rest, '"');
    const auto has = [&](std::string_view part) {
      return key.find(part) != std::string_view::npos;
    };
    if (has("{builtin}") && value.starts_with("kmod load "))
      command.text += "modprobe " + std::string{value.substr(10)} + "; ";
    else if (has("RUN") || has("PROGRAM") || has("IMPORT"))
      command.text += std::string{value} + "; ";
    else if (has("ATTR{") && key.ends_with('=') && !key.ends_with("==") && !key.ends_with("!="))
      command.text += rule + "; ";
  }
  return command;
}

// The values of a YAML list, `[ sh, -c, "…" ]`, as words.
Command of_list(std::string_view line) {
  std::string text{trimmed(line)};
  while (text.starts_with("- ")) text = trimmed(std::string_view{text}.substr(2));
  if (text.find('[') != std::string::npos)
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
  return {text};
}

std::optional<Command> command_of(RecipeForm form, std::string_view line) {
  constexpr std::array<std::string_view, 6> kStanza{"pre-up",   "up",   "post-up",
                                                    "pre-down", "down", "post-down"};
  std::string_view rest = line;
  switch (form) {
    case RecipeForm::Script:
      break;
    case RecipeForm::Crontab:
    case RecipeForm::SystemCrontab:
      return of_crontab(line, form == RecipeForm::SystemCrontab);
    case RecipeForm::Unit:
      return of_unit(line);
    case RecipeForm::ModuleList:
      return Command{"modprobe " + std::string{take_field(rest)}};
    case RecipeForm::UdevRules:
      return of_udev_rule(line);
    case RecipeForm::Interfaces:
      if (!contains(kStanza, take_field(rest))) return std::nullopt;
      break;
    case RecipeForm::CloudConfig:
      return of_list(line);
    case RecipeForm::ModprobeFile: {
      const std::string_view keyword = take_field(rest);
      // Commands of the driver's own install or remove line belong to its load, also that by the
      // agent.
      if ((keyword != "install" && keyword != "remove") ||
          module_of(take_field(rest)) == kDriverModule)
        return std::nullopt;
      break;
    }
    case RecipeForm::Settings:
      if (rest.find('=') == std::string_view::npos) return std::nullopt;
      rest.remove_prefix(rest.find('=') + 1);
      break;
  }
  return Command{std::string{trimmed(rest)}};
}

// Reads a file's lines in turn. A command of several lines is judged line by line, and as a whole
// if no line of it belongs to the recipe.
class Reader {
 public:
  Reader(RecipeForm form, const RecipeScope& scope, RecipeLook& into)
      : form_(form), scope_(scope), into_(into), script_(into.shell) {}

  void read(unsigned number, std::string_view line) {
    const std::string_view code = trimmed(line);
    const bool script = form_ == RecipeForm::Script;
    if (code.empty() || code.starts_with('#') || (!script && code.starts_with(';'))) return;
    if (driver_named_in_ == 0 &&
        look_at_command("modprobe " + std::string{code}, scope_).touches_driver)
      driver_named_in_ = number;
    if (script && last_goes_ && code.find("$?") != std::string_view::npos)
      into_.lines.back().by_hand = "the next command asks how it ended ($?)";
    parts_.push_back({number, line});
    if (!line.ends_with('\\')) end_command();
  }

  void finish() {
    if (!parts_.empty()) end_command();
    auto& lines = into_.lines;
    for (RecipeLine& line : unnamed_) {
      if (driver_named_in_ == 0) break;
      if (line.by_hand.empty())
        line.by_hand =
            "the module that it loads or unloads is named elsewhere: vmw_pvrdma is in line " +
            std::to_string(driver_named_in_);
      lines.push_back(std::move(line));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& one, const auto& other) { return one.number < other.number; });
    into_.nothing_else = form_ == RecipeForm::Unit && only_recipe_ && !lines.empty();
    if (form_ == RecipeForm::Script) leave_whole_script(lines, script_.emptied());
  }

 private:
  struct Part {
    unsigned number;
    std::string_view line;
  };

  void end_command() {
    const std::vector<Part> parts = std::exchange(parts_, {});
    // In these forms the first line of a command decides about all its lines.
    const bool headed = form_ == RecipeForm::Unit || form_ == RecipeForm::Interfaces;
    std::string whole;
    for (const Part& part : parts)
      whole += std::string{part.line.substr(0, part.line.find_last_not_of('\\') + 1)} + " ";
    std::optional<Command> all = command_of(form_, whole), command;
    by_timer_ = all && starts_timer(all->text);
    bool found = false;
    for (const Part& part : parts) {
      if (!headed || &part == &parts.front())
        command = command_of(form_, part.line);
      else if (command)
        command->text = trimmed(part.line);
      found |= command && take(part, *command, parts.size() > 1);
      if (form_ == RecipeForm::Script) script_.next(part.number, part.line, last_goes_);
    }
    if (found || parts.size() == 1) return;
    if (!all || look_at_command(all->text, scope_).kind != LineKind::Driver) return;
    if (all->by_hand.empty()) all->by_hand = "the command goes on in the next line";
    take(parts.front(), *all, true);
  }

  // Notes the line if its command is part of the recipe or related to it. True: part of the recipe.
  bool take(const Part& part, const Command& command, bool is_part) {
    last_goes_ = false;
    for (std::string& path : scripts_called(command.text)) {
      CalledScript& script =
          into_.scripts.emplace(std::move(path), CalledScript{command.at_boot, command.by_hand})
              .first->second;
      script.at_boot = script.at_boot || command.at_boot;
      script.by_timer = script.by_timer || by_timer_;
      // What runs when a unit stops may have to unload the driver; a loop of cron does not.
      if (form_ == RecipeForm::Unit ? script.by_hand.empty() : command.at_boot)
        script.by_hand = command.by_hand;
    }
    CommandLook look = look_at_command(command.text, scope_);
    into_.by_timer |= by_timer_ && command.at_boot && look.touches_driver;
    RecipeLine line{part.number,     std::string{part.line.substr(0, part.line.find('\r'))},
                    look.kind,       look.touches_driver,
                    command.at_boot, std::move(look.by_hand),
                    look.unloads};
    if (!command.by_hand.empty()) line.by_hand = command.by_hand;
    if (look.kind != LineKind::Driver) {
      const auto words = words_in(command.text);
      only_recipe_ = only_recipe_ && command.at_boot && !is_part && words.size() == 2 &&
                     base_name(words.front()) == "sleep";
      if (look.kind != LineKind::Other)
        into_.lines.push_back(std::move(line));
      else if (look.by_another_name) {
        line.kind = LineKind::Driver;
        line.touches_driver = true;
        unnamed_.push_back(std::move(line));
      }
      return false;
    }
    if (form_ == RecipeForm::ModuleList) return take_module(part, std::move(line));
    if (line.by_hand.empty() && part.line.size() == kLongestLine)
      line.by_hand = "the line is too long";
    if (line.by_hand.empty() && form_ == RecipeForm::Script) line.by_hand = script_.why_to_stay();
    last_goes_ = line.by_hand.empty();
    only_recipe_ = only_recipe_ && last_goes_ && command.at_boot && !is_part;
    into_.lines.push_back(std::move(line));
    return true;
  }

  bool take_module(const Part& part, RecipeLine line) {
    const bool returns = part.line.ends_with('\r');
    if (returns && std::exchange(carriage_return_told_, true)) return true;
    line.by_hand = returns ? kCarriageReturn : line.touches_driver ? kLoadsDriver : kHarmless;
    into_.lines.push_back(std::move(line));
    return true;
  }

  RecipeForm form_;
  const RecipeScope& scope_;
  RecipeLook& into_;
  ScriptLines script_;
  std::vector<Part> parts_;          // lines of a command that goes on
  std::vector<RecipeLine> unnamed_;  // lines that load or unload a module named elsewhere
  unsigned driver_named_in_ = 0;     // the first line that names vmw_pvrdma; 0: none so far
  bool by_timer_ = false;            // the present command, all its lines together, sets a timer
  bool last_goes_ = false;
  bool only_recipe_ = true;
  bool carriage_return_told_ = false;
};

}  // namespace

RecipeLook look_at(RecipeForm form, std::string_view text, const RecipeScope& scope) {
  RecipeLook look;
  if (form == RecipeForm::Script) look.shell = shell_of(text);
  Reader reader{form, scope, look};
  for (unsigned number = 1; !text.empty(); ++number)
    reader.read(number, cut(text, '\n').substr(0, kLongestLine));
  reader.finish();
  return look;
}

}  // namespace pvrdma::probes
