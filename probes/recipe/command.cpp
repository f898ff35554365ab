// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/command.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

using Words = std::vector<std::string_view>;

bool is_driver_tool(std::string_view word) {
  constexpr std::array<std::string_view, 3> kTools{"modprobe", "rmmod", "insmod"};
  return contains(kTools, base_name(word));
}

// True for a printing command on a line that runs and writes nothing else.
bool only_prints(std::string_view text, const Words& words) {
  constexpr std::array<std::string_view, 3> kPrinters{"echo", "printf", "logger"};
  return contains(kPrinters, base_name(words.front())) &&
         text.find_first_of(";&|`$>") == std::string_view::npos;
}

// Where the command that begins at `from` ends. The "&" of ">&2" and "&>" ends none.
std::size_t end_of_command(std::string_view text, std::size_t from) {
  std::size_t end = text.find_first_of(";&|", from);
  while (end < text.size() && text[end] == '&' && end > from &&
         (text[end - 1] == '>' || text.substr(end + 1).starts_with('>')))
    end = text.find_first_of(";&|", end + 1);
  return end;
}

// Whether a module tool's command only shows what the tool would do, or knows (modprobe(8)).
bool only_shows(std::string_view command) {
  constexpr std::array<std::string_view, 8> kLong{
      "--dry-run",       "--show",        "--show-depends",     "--showconfig",
      "--resolve-alias", "--show-config", "--show-modversions", "--show-exports"};
  const Words words = words_in(command);
  return base_name(words.front()) == "modprobe" &&
         std::any_of(words.begin(), words.end(), [&](std::string_view word) {
           if (word.starts_with("--")) return contains(kLong, word);
           return word.starts_with('-') && word.find_first_of("ncDR") != std::string_view::npos;
         });
}

// Fills `look` where the words name one of the modules after a module tool, or before the tool if
// it gets its names from elsewhere (`for m in …; do modprobe -r $m`, `… | xargs modprobe`).
void look_for_modules(const Words& words, std::string_view text, const RecipeScope& scope,
                      CommandLook& look) {
  const auto tool = std::find_if(words.begin(), words.end(), is_driver_tool);
  if (tool == words.end()) return;
  const auto after = static_cast<std::size_t>(tool->data() - text.data());
  look.by_another_name =
      contains(words, "xargs") || text.find('$', after) != std::string_view::npos;
  bool removes = false;  // the tool before the word does
  std::size_t end = 0;   // of that tool's command
  for (auto word = look.by_another_name ? words.begin() : tool; word != words.end(); ++word) {
    const auto at = static_cast<std::size_t>(word->data() - text.data());
    if (is_driver_tool(*word)) {
      removes = base_name(*word) == "rmmod";
      end = end_of_command(text, at);
      if (only_shows(text.substr(at, end - at))) end = at;
    }
    const bool of_tool = at < end;
    const bool option = of_tool && word->starts_with('-') && !word->starts_with("--");
    removes = removes || (of_tool && *word == "--remove") ||
              (option && word->find('r') != std::string_view::npos);
    look.unloads = look.unloads || removes;
    const std::string module = module_of(*word);
    if (!is_module_of_agent(module, scope) || (!of_tool && !look.by_another_name)) continue;
    look.kind = LineKind::Driver;
    look.touches_driver = look.touches_driver || look.unloads || module == kDriverModule;
  }
  look.unloads = look.unloads && (look.kind == LineKind::Driver || look.by_another_name);
}

// How a line that writes to sysfs or modprobe.d interferes with the driver; empty: it does not.
std::string_view meddles(const Words& words, std::string_view text, const RecipeScope& scope) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  for (auto word = words.begin(); word + 1 < words.end(); ++word)
    if ((*word == "blacklist" || *word == "install") && module_of(word[1]) == kDriverModule &&
        word[1].find(".ko") == std::string_view::npos)
      return "it keeps vmw_pvrdma from being loaded";
  const bool adapter =
      has(kDriverModule) || std::any_of(scope.functions.begin(), scope.functions.end(), has);
  constexpr std::array<std::string_view, 5> kFiles{"driver_override", "/bind", "/unbind", "/remove",
                                                   "{remove}"};
  if (adapter && std::any_of(kFiles.begin(), kFiles.end(), has))
    return "it binds, unbinds or removes an adapter's function, which the agent does where it must";
  return {};
}

bool restarts_stack_alone(const Words& words) {
  constexpr std::array<std::string_view, 4> kUnits{"openibd", "rdma", "openibd.service",
                                                   "rdma.service"};
  constexpr std::array<std::string_view, 4> kVerbs{"start", "restart", "reload", "force-restart"};
  bool manager = false, unit = false, verb = false;
  for (const std::string_view word : words) {
    const bool init_script =
        word.starts_with("/etc/init.d/") || word.starts_with("/etc/rc.d/init.d/");
    manager =
        manager || init_script || base_name(word) == "systemctl" || base_name(word) == "service";
    unit = unit || (manager && contains(kUnits, init_script ? base_name(word) : word));
    verb = verb || (manager && contains(kVerbs, word));
  }
  return unit && verb;
}

// Whether one of the commands does: a later command's words are not the service manager's.
bool restarts_stack(std::string_view text) {
  const auto commands = commands_in(text);
  return std::any_of(commands.begin(), commands.end(), [](const std::string& command) {
    return restarts_stack_alone(words_in(command));
  });
}

bool sets_link(const Words& words, std::string_view text, const RecipeScope& scope) {
  bool sets = false;
  for (auto at = words.begin(); at != words.end(); ++at) {
    const std::string_view tool = base_name(*at);
    if (tool != "netplan" && tool != "ifconfig" && tool != "ip") continue;
    const Words rest{at + 1, words.end()};
    if (tool == "netplan" && contains(rest, "apply")) return true;
    sets = sets || (tool == "ifconfig" && !rest.empty());
    if (tool != "ip") continue;
    const bool link = contains(rest, "link") || contains(rest, "l");
    const bool address = contains(rest, "address") || contains(rest, "addr") || contains(rest, "a");
    sets = sets ||
           (link && contains(rest, "set") && (contains(rest, "mtu") || contains(rest, "up"))) ||
           (address && (contains(rest, "add") || contains(rest, "replace")));
  }
  const bool ours = scope.netdevs.empty() || text.find('$') != std::string_view::npos ||
                    std::any_of(words.begin(), words.end(), [&](std::string_view word) {
                      return contains(scope.netdevs, word);
                    });
  return sets && ours;
}

bool looks_at_ports(const Words& words) {
  constexpr std::array<std::string_view, 5> kViewers{"ibv_devinfo", "ibv_devices", "ibstat",
                                                     "ibstatus", "ibv_asyncwatch"};
  for (auto at = words.begin(); at != words.end(); ++at) {
    if (contains(kViewers, base_name(*at))) return true;
    if (base_name(*at) == "rdma" && at + 1 != words.end() && (at[1] == "link" || at[1] == "dev"))
      return true;
  }
  return false;
}

}  // namespace

std::string_view without_comment(std::string_view text) {
  const std::size_t hash = std::min(text.find(" #"), text.find("\t#"));
  return hash < text.find_first_of("'\"`") ? text.substr(0, hash) : text;
}

std::string without_braces(std::string_view text) {
  constexpr std::size_t kLongest = 16U << 10U;
  std::string result{text.substr(0, kLongest)};
  // Expands the innermost pair first; each expansion removes one pair and lengthens the text.
  for (std::size_t close = result.find('}'); close != std::string::npos;) {
    const std::size_t open = result.rfind('{', close);
    const std::string_view list = open == std::string::npos
                                      ? ""
                                      : std::string_view{result}.substr(open + 1, close - open - 1);
    if (list.find(',') == std::string_view::npos ||
        list.find_first_of(" \t{") != std::string_view::npos || result.size() > kLongest) {
      close = result.find('}', close + 1);
      continue;
    }
    constexpr std::string_view kEnds = " \t,{};&|()'\"";
    const std::size_t begin = open == 0 ? 0 : result.find_last_of(kEnds, open - 1) + 1;
    const std::size_t end = std::min(result.find_first_of(kEnds, close + 1), result.size());
    // Inside other braces the words become a part of that list.
    const bool inner = begin > 0 && (result[begin - 1] == '{' || result[begin - 1] == ',');
    std::string words;
    for (std::string_view rest = list;; rest.remove_prefix(rest.find(',') + 1)) {
      words += (words.empty() ? "" : inner ? "," : " ") + result.substr(begin, open - begin);
      words +=
          std::string{rest.substr(0, rest.find(','))} + result.substr(close + 1, end - close - 1);
      if (rest.find(',') == std::string_view::npos) break;
    }
    result.replace(begin, end - begin, words);
    close = result.find('}', begin);
  }
  return result;
}

std::vector<std::string_view> words_in(std::string_view text) {
  const auto belongs = [](char c) {
    return is_alphanumeric(c) || std::string_view{"_./-+:,@%!"}.find(c) != std::string_view::npos;
  };
  Words words;
  while (!text.empty()) {
    const auto begin = std::find_if(text.begin(), text.end(), belongs);
    const auto end = std::find_if_not(begin, text.end(), belongs);
    if (begin != end)
      words.push_back(text.substr(static_cast<std::size_t>(begin - text.begin()),
                                  static_cast<std::size_t>(end - begin)));
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
  return words;
}

std::vector<std::string> commands_in(std::string_view text) {
  std::vector<std::string> commands(1);
  for (const char letter : text) {
    if (std::string_view{";&|(){}`\n"}.find(letter) != std::string_view::npos)
      commands.emplace_back();
    else
      commands.back() += letter == '\'' || letter == '"' ? ' ' : letter;
  }
  return commands;
}

CommandLook look_at_command(std::string_view text, const RecipeScope& scope) {
  const std::string plain = without_braces(without_comment(text));
  text = plain;
  const Words words = words_in(text);
  if (words.empty() || only_prints(text, words)) return {};
  CommandLook look;
  look_for_modules(words, text, scope, look);
  if (const auto why = meddles(words, text, scope); !why.empty()) {
    look.kind = LineKind::Driver;
    look.touches_driver = true;
    look.by_hand = why;
  } else if (look.kind == LineKind::Driver) {
    look.by_hand = why_not_simple(text, scope);
  } else if (restarts_stack(text)) {
    look = {LineKind::Driver, true, "it restarts the RDMA services; the agent loads the modules"};
  } else if (sets_link(words, text, scope)) {
    look.kind = LineKind::Link;
  } else if (looks_at_ports(words)) {
    look.kind = LineKind::Port;
  }
  return look;
}

}  // namespace pvrdma::probes
