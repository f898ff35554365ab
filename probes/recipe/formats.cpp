#include "probes/recipe/formats.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

using Kind = Judgement::Kind;

constexpr std::string_view kSpaces = " \t";

struct TextLine {
  unsigned first = 0, last = 0;
  std::string whole;   // as written
  std::string joined;  // continued lines in one
};

// Lines of a file; where `continued`, a backslash at the end joins the next one.
std::vector<TextLine> lines_of(std::string_view text, bool continued) {
  std::vector<TextLine> lines;
  unsigned number = 0;
  bool goes_on = false;
  while (!text.empty()) {
    const std::string line{cut(text, '\n')};
    ++number;
    if (!goes_on) lines.push_back({number, number, {}, {}});
    TextLine& into = lines.back();
    into.whole += (goes_on ? "\n" : "") + line;
    into.last = number;
    goes_on = continued && line.ends_with('\\');
    into.joined += goes_on ? line.substr(0, line.size() - 1) + " " : line;
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// The text after the first word.
std::string_view after_word(std::string_view text) {
  text = trimmed(text);
  return trimmed(text.substr(std::min(text.find_first_of(kSpaces), text.size())));
}

// A command line by itself, as found in `line`.
void add_command(const TextLine& line, std::string_view command, const RecipeScope& scope,
                 RecipeReading& into) {
  const RecipeReading inner = read_recipe(command, scope);
  into.scripts.insert(into.scripts.end(), inner.scripts.begin(), inner.scripts.end());
  for (const RecipeLines& found : inner.lines)
    into.lines.push_back({line.first, line.last, line.whole, found.steps, found.left, false});
}

}  // namespace

RecipeReading read_crontab(std::string_view text, bool with_user, const RecipeScope& scope) {
  RecipeReading result;
  for (const TextLine& line : lines_of(text, false)) {
    const std::string_view content = trimmed(line.joined);
    if (!content.starts_with("@reboot") ||
        kSpaces.find(content[std::min<std::size_t>(7, content.size() - 1)]) ==
            std::string_view::npos)
      continue;
    const std::string_view rest = after_word(content);
    add_command(line, with_user ? after_word(rest) : rest, scope, result);
  }
  return result;
}

RecipeReading read_unit(std::string_view text, const RecipeScope& scope) {
  constexpr std::array kKeys{"ExecStart", "ExecStartPre", "ExecStartPost"};
  RecipeReading result;
  result.nothing_else = true;
  bool in_service = false;
  bool keeps_start = false;
  for (const TextLine& line : lines_of(text, true)) {
    const std::string_view content = trimmed(line.joined);
    if (content.starts_with('[')) in_service = content == "[Service]";
    const auto equals = content.find('=');
    if (!in_service || equals == std::string_view::npos || content.starts_with('#')) continue;
    const std::string_view key = trimmed(content.substr(0, equals));
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) continue;
    std::string_view command = trimmed(content.substr(equals + 1));
    command.remove_prefix(std::min(command.find_first_not_of("-@:+!|"), command.size()));
    if (command.empty()) continue;
    const std::size_t before = result.lines.size();
    add_command(line, command, scope, result);
    const bool recipe = result.lines.size() > before && result.lines.back().left.empty();
    if (recipe) continue;
    const auto words = shell_words(command);
    const bool filler = judge({words, {}}, scope).kind == Kind::Filler;
    result.nothing_else = result.nothing_else && filler;
    keeps_start = keeps_start || key == "ExecStart";
  }
  if (result.lines.empty()) result.nothing_else = false;
  // A unit without any ExecStart= is a broken one.
  for (RecipeLines& found : result.lines)
    if (!result.nothing_else && !keeps_start && found.left.empty() &&
        trimmed(found.text).starts_with("ExecStart="))
      found.left = "the unit would have no ExecStart= left, and does something else as well";
  return result;
}

RecipeReading read_module_list(std::string_view text, const RecipeScope& scope) {
  RecipeReading result;
  for (const TextLine& line : lines_of(text, false)) {
    const std::string content{trimmed(line.joined)};
    if (content.empty() || content.starts_with('#') || content.starts_with(';')) continue;
    const Judgement one = judge({{"modprobe", content}, {}}, scope);
    if (one.kind != Kind::Recipe) continue;
    const bool driver = one.steps.front() == RecipeStep::LoadDriver;
    result.lines.push_back(
        {line.first, line.last, line.whole, one.steps,
         driver ? "it may load vmw_pvrdma before what must precede it; the agent loads it last, so "
                  "the line can go"
                : "it is harmless: the agent finds the module loaded",
         false});
  }
  return result;
}

}  // namespace pvrdma::probes
