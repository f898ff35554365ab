// SPDX-License-Identifier: GPL-2.0-or-later
// Which lines of a script must stay because of the lines around them (ScriptLines,
// leave_whole_script()).
#include <array>

#include "agent/base/text.hpp"
#include "probes/recipe/command.hpp"
#include "probes/recipe/lines.hpp"

namespace pvrdma::probes {

namespace {

// Tracks the quotes and substitutions of a shell that are open at a position, the innermost last.
class Quotes {
 public:
  // Takes the character at `at`, and the next one if both belong together.
  void take(std::string_view line, std::size_t& at) {
    const char letter = line[at];
    const char inside = open_.empty() ? '\0' : open_.back();
    const bool opens = letter == '$' && at + 1 < line.size() && inside != '\'' &&
                       (line[at + 1] == '(' || line[at + 1] == '{');
    if (letter == '\\' && inside != '\'')
      ++at;
    else if (!open_.empty() && letter == inside)
      open_.pop_back();
    else if (opens)
      open_ += line[++at] == '(' ? ')' : '}';
    else if (inside != '\'' && (letter == '"' || (letter == '\'' && inside != '"')))
      open_ += letter;
  }
  [[nodiscard]] bool in_code() const { return open_.empty() || open_.back() == ')'; }
  [[nodiscard]] bool all_closed() const { return open_.empty(); }

 private:
  std::string open_;  // the character that closes each
};

// True for a here-document, or something that the line may not close: the next lines may be text.
bool may_open_text(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  // `case` counts as its patterns have parentheses that close nothing.
  if (has("<<") || has("$'") || has("`") || (has("$(") && has("case"))) return true;
  Quotes quotes;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool begins_word = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
    // A comment inside $( ) hides the closing parenthesis.
    if (line[at] == '#' && begins_word && quotes.in_code()) break;
    quotes.take(line, at);
  }
  return !quotes.all_closed();
}

bool ends_open(std::string_view code) {
  code = trimmed(code);
  return code.ends_with("&&") || code.ends_with('|') || code.ends_with('\\');
}

// True where the command may go on in the next line, wherever a comment begins.
bool goes_on(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (ends_open(line.substr(0, at))) return true;
  return ends_open(line);
}

// True where a body of commands begins after the line: `if …; then`, `up() {`, `(`.
bool opens_body(std::string_view code) {
  constexpr std::array<std::string_view, 3> kOpening{"then", "do", "else"};
  return code.ends_with('{') || code.ends_with('(') ||
         contains(kOpening, code.substr(code.find_last_of(" \t;") + 1));
}

bool closes_body(std::string_view code) {
  constexpr std::array<std::string_view, 5> kClosing{"fi", "done", "else", "elif", "}"};
  return code.starts_with(')') ||
         contains(kClosing, code.substr(0, code.find_first_of(" \t;&|<>)")));
}

}  // namespace

std::string shell_of(std::string_view script) {
  const std::string_view first = cut(script, '\n');
  if (!first.starts_with("#!")) return "/bin/sh";
  const auto words = split_at_blanks(first.substr(2));
  std::string_view name = words.empty() ? "" : base_name(words[0]);
  if (name == "env" && words.size() > 1) name = base_name(words[1]);
  if (name == "bash") return "/bin/bash";
  return name == "sh" || name == "dash" ? "/bin/sh" : "";
}

std::string ScriptLines::why_to_stay() const {
  if (shell_.empty()) return "its script is for another interpreter than sh and bash";
  if (text_from_ != 0)
    return "it may be a part of a text that begins in line " + std::to_string(text_from_);
  return continued_ ? "the command before it goes on here" : "";
}

void ScriptLines::next(unsigned number, std::string_view line, bool goes) {
  const std::string_view code = trimmed(without_comment(line));
  if (emptied_ == 0 && body_from_ != 0 && body_has_lines_ && closes_body(code))
    emptied_ = body_from_;
  if (opens_body(code)) {
    body_from_ = number;
    body_has_lines_ = false;
  } else if (goes) {
    body_has_lines_ = true;
  } else {
    body_from_ = 0;
  }
  continued_ = goes_on(line);
  if (text_from_ == 0 && may_open_text(line)) text_from_ = number;
}

void leave_whole_script(std::vector<RecipeLine>& lines, unsigned emptied) {
  std::string why;
  if (emptied != 0)
    why = "the body that begins in line " + std::to_string(emptied) +
          " would be empty without such lines";
  // The script's loads must stay with that unload, as the agent loads modules only a moment later,
  // but the script's next commands, such as `ifup`, need them. So must unloads of what depends on
  // these modules. The order of the lines does not tell, as functions run in another one.
  for (const RecipeLine& line : lines)
    if (why.empty() && line.unloads && !line.by_hand.empty())
      why = "line " + std::to_string(line.number) + ", which stays, unloads modules";
  if (why.empty()) return;
  for (RecipeLine& line : lines)
    if (line.by_hand.empty()) line.by_hand = "the script is left as it is: " + why;
}

}  // namespace pvrdma::probes
