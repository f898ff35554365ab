#include "probes/recipe/lines.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

namespace {

// The lines of a text with their numbers, each cut to what is looked at.
template <typename Visit>
void each_line(std::string_view text, const Visit& visit) {
  for (unsigned number = 1; !text.empty(); ++number)
    visit(number, cut(text, '\n').substr(0, kLongestLine));
}

// The line is noted where its command is one of the recipe or stands beside it. True: of the
// recipe.
bool take_command(unsigned number, std::string_view line, std::string_view command,
                  const RecipeScope& scope, RecipeLook& into) {
  CommandLook look = look_at_command(command, scope);
  for (std::string& path : scripts_called(command)) into.scripts.insert(std::move(path));
  if (look.kind == LineKind::Other) return false;
  if (look.by_hand.empty() && line.size() == kLongestLine) look.by_hand = "the line is too long";
  into.lines.push_back(
      {number, std::string{line}, look.kind, look.touches_driver, std::move(look.by_hand)});
  return look.kind == LineKind::Driver;
}

// By the #! line, where there is one; the shells are this system's own, at their fixed paths.
std::string shell_of(std::string_view text) {
  const std::string_view first = cut(text, '\n');
  if (!first.starts_with("#!")) return "/bin/sh";
  const auto words = split_at_blanks(first.substr(2));
  std::string_view name = words.empty() ? "" : base_name(words[0]);
  if (name == "env" && words.size() > 1) name = base_name(words[1]);
  if (name == "bash") return "/bin/bash";
  return name == "sh" || name == "dash" ? "/bin/sh" : "";
}

// Where a line stands in the quotes and substitutions of a shell, the innermost last.
class Quotes {
 public:
  // Takes the letter at `at`, and more where they belong together.
  void take(std::string_view line, std::size_t& at) {
    const char letter = line[at];
    const char inside = open_.empty() ? '\0' : open_.back();
    const bool opens = letter == '$' && at + 1 < line.size() && inside != '\'' &&
                       (line[at + 1] == '(' || line[at + 1] == '{');
    if (letter == '\\' && inside != '\'')
      ++at;
    else if (letter == inside)
      open_.pop_back();
    else if (opens)
      open_ += line[++at] == '(' ? ')' : '}';
    else if (inside != '\'' && (letter == '"' || (letter == '\'' && inside != '"')))
      open_ += letter;
  }
  [[nodiscard]] bool in_code() const { return open_.empty() || open_.back() == ')'; }
  [[nodiscard]] bool all_closed() const { return open_.empty(); }

 private:
  std::string open_;  // what closes each
};

// A here-document, or something that the line does not close for certain: what follows may be text.
bool may_open_text(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  // The last: its patterns have parentheses that close nothing.
  if (has("<<") || has("$'") || has("`") || (has("$(") && has("case"))) return true;
  Quotes quotes;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool begins_word = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
    // A comment within $( ) hides what closes it.
    if (line[at] == '#' && begins_word && quotes.in_code()) break;
    quotes.take(line, at);
  }
  return !quotes.all_closed();
}

bool ends_open(std::string_view code) {
  code = trimmed(code);
  return code.ends_with("&&") || code.ends_with('|') || code.ends_with('\\');
}

// The command of the line may go on in the next, wherever a comment begins.
bool goes_on(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (ends_open(line.substr(0, at))) return true;
  return ends_open(line);
}

// A script's lines in turn: what one of them says about the next.
class ScriptReader {
 public:
  ScriptReader(const RecipeScope& scope, RecipeLook& into) : scope_(scope), into_(into) {}

  void read(unsigned number, std::string_view line) {
    const std::string_view code = trimmed(line);
    if (code.empty() || code.starts_with('#')) return;
    if (previous_is_simple_ && code.find("$?") != std::string_view::npos)
      into_.lines.back().by_hand = "the next command asks how it ended ($?)";
    const bool recipe = take_command(number, line, code, scope_, into_);
    if (recipe && into_.lines.back().by_hand.empty()) judge(into_.lines.back());
    previous_is_simple_ = recipe && into_.lines.back().by_hand.empty();
    continued_ = goes_on(line);
    if (text_from_ == 0 && may_open_text(line)) text_from_ = number;
  }

 private:
  void judge(RecipeLine& line) const {
    if (into_.shell.empty())
      line.by_hand = "its script is for another interpreter than sh and bash";
    else if (text_from_ != 0)
      line.by_hand = "it may be a part of a text that begins in line " + std::to_string(text_from_);
    else if (continued_)
      line.by_hand = "the command before it goes on here";
  }

  const RecipeScope& scope_;
  RecipeLook& into_;
  bool previous_is_simple_ = false;
  bool continued_ = false;
  unsigned text_from_ = 0;  // 0: none so far
};

// `sh -c 'TEXT'` -> TEXT, where nothing in it is quoted in turn.
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

}  // namespace

RecipeLook look_at_script(std::string_view text, const RecipeScope& scope) {
  RecipeLook look;
  look.shell = shell_of(text);
  ScriptReader reader{scope, look};
  each_line(text, [&](unsigned number, std::string_view line) { reader.read(number, line); });
  return look;
}

RecipeLook look_at_crontab(std::string_view text, bool with_user, const RecipeScope& scope) {
  RecipeLook look;
  each_line(text, [&](unsigned number, std::string_view line) {
    constexpr std::string_view kAtBoot = "@reboot";
    std::string_view rest = trimmed(line);
    if (!rest.starts_with(kAtBoot)) return;
    rest.remove_prefix(kAtBoot.size());
    if (rest.find_first_of(" \t") != 0) return;
    rest = trimmed(rest);
    if (with_user) rest = trimmed(rest.substr(std::min(rest.find_first_of(" \t"), rest.size())));
    take_command(number, line, rest, scope, look);
  });
  return look;
}

RecipeLook look_at_unit(std::string_view text, const RecipeScope& scope) {
  constexpr std::array<std::string_view, 3> kAtStart{"ExecStart", "ExecStartPre", "ExecStartPost"};
  RecipeLook look;
  look.nothing_else = true;
  bool in_service = false, continued = false, of_command = false;
  each_line(text, [&](unsigned number, std::string_view line) {
    std::string_view content = trimmed(line);
    if (content.starts_with('#') || content.starts_with(';')) return;
    if (!continued) {
      if (content.starts_with('[')) in_service = content == "[Service]";
      const std::size_t equals = std::min(content.find('='), content.size());
      const std::string_view key = trimmed(content.substr(0, equals));
      of_command = in_service && contains(kAtStart, key);
      // What runs at other times is something else, too.
      if (in_service && key.starts_with("Exec") && !of_command) look.nothing_else = false;
      if (of_command) content = trimmed(content.substr(std::min(equals + 1, content.size())));
    }
    const bool begins = !continued;
    continued = line.ends_with('\\');
    if (!of_command) return;
    if (begins)
      content.remove_prefix(std::min(content.find_first_not_of("-@:+!|"), content.size()));
    const std::string_view command = begins && !continued ? text_of_shell(content) : content;
    if (begins && command.empty()) return;  // takes back what was before
    const bool recipe = take_command(number, line, command, scope, look);
    const bool pause = begins && !continued && words_in(command).size() == 2 &&
                       base_name(words_in(command).front()) == "sleep";
    if (!begins || continued || (!recipe && !pause) ||
        (recipe && !look.lines.back().by_hand.empty()))
      look.nothing_else = false;
  });
  if (look.lines.empty()) look.nothing_else = false;
  return look;
}

RecipeLook look_at_module_list(std::string_view text, const RecipeScope& scope) {
  RecipeLook look;
  each_line(text, [&](unsigned number, std::string_view line) {
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#') || content.starts_with(';')) return;
    const std::string module = module_of(content.substr(0, content.find_first_of(" \t")));
    if (!is_module_of_agent(module, scope)) return;
    const bool driver = module == kDriverModule;
    look.lines.push_back(
        {number, std::string{line}, LineKind::Driver, driver,
         driver ? "it may load vmw_pvrdma before what must precede it; the agent loads it last, so "
                  "the line can go"
                : "it is harmless: the agent finds the module loaded"});
  });
  return look;
}

}  // namespace pvrdma::probes
