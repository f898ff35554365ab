// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/migrate/edit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/base/program.hpp"
#include "agent/base/rooted_path.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::ctl::migration {

namespace {

using probes::kMigratedLastMark;
using probes::kMigratedMark;
using probes::RecipeLine;

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) lines.push_back(cut(text, '\n'));
  return lines;
}

// Adds one of the text's lines; only a last line may lack its newline.
void add_line(std::string& result, std::string_view line, std::string_view text) {
  result += line;
  if (line.end() != text.end()) result += '\n';
}

bool is_command(std::string_view code) { return !code.empty() && code.front() != '#'; }

// True where the command before `next` decides the exit status of its list or of the script; `next`
// is empty at the end of the script.
bool ends_list(std::string_view next) {
  constexpr std::array<std::string_view, 9> kClosing{"fi",   "done",   "else", "elif", "esac",
                                                     "exit", "return", "}",    ")"};
  const std::string_view word = next.substr(0, next.find_first_of(" \t;&|<>"));
  const bool with_status = (word == "exit" || word == "return") && split_at_blanks(next).size() > 1;
  return next.empty() || next.starts_with(";;") || next.starts_with(')') ||
         (contains(kClosing, word) && !with_status);
}

}  // namespace

bool is_to_be_moved(const RecipeLine& line) {
  return line.kind == probes::LineKind::Driver && line.by_hand.empty();
}

bool still_has(std::string_view text, const std::vector<RecipeLine>& lines) {
  const auto all = lines_in(text);
  return std::ranges::all_of(lines, [&](const RecipeLine& line) {
    if (!is_to_be_moved(line)) return true;
    if (line.number > all.size()) return false;
    const std::string_view now = all[line.number - 1].substr(0, probes::kLongestLine);
    return now.substr(0, now.find('\r')) == line.text;
  });
}

std::string comment_out(std::string_view text, const std::vector<RecipeLine>& lines,
                        probes::RecipeForm form) {
  const auto all = lines_in(text);
  std::vector<bool> goes(all.size());
  for (const RecipeLine& line : lines)
    if (is_to_be_moved(line)) goes.at(line.number - 1) = true;
  // Goes from the end to the beginning, because a line's mark depends on the command after it.
  std::vector<bool> is_last(all.size());
  std::string_view next;
  for (std::size_t at = all.size(); at-- > 0;) {
    const std::string_view code = trimmed(all[at]);
    is_last[at] = goes[at] && form == probes::RecipeForm::Script && ends_list(next);
    if (is_command(code)) next = code;
  }
  std::string result;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (goes[at]) result += is_last[at] ? kMigratedLastMark : kMigratedMark;
    add_line(result, all[at], text);
  }
  return result;
}

std::string put_back(std::string_view text) {
  std::string result;
  for (std::string_view line : lines_in(text)) {
    for (const std::string_view mark : {kMigratedMark, kMigratedLastMark})
      if (line.starts_with(mark)) {
        line.remove_prefix(mark.size());
        break;
      }
    add_line(result, line, text);
  }
  return result;
}

Result<void> check_syntax(const std::string& shell, const Fd& script) {
  if (shell != "/bin/sh" && shell != "/bin/bash") return fail(EINVAL, "checking with", shell);
  if (auto trusted = open_rooted(Root{} / shell, O_RDONLY, kTrustedLinks); !trusted)
    return fail(std::move(trusted.error()));
  if (::lseek(script.get(), 0, SEEK_SET) != 0) return fail(errno, "reading", "the draft");
  Program program;
  program.words = {shell, "-n"};
  program.environment = std::vector<std::string>{};
  program.input_fd = script.get();
  const auto result = run_program(program);
  if (!result) return fail(result.error());
  if (result->ended == Ended::TimedOut) return fail(ETIMEDOUT, "checking with", shell + " -n");
  if (result->ended == Ended::Exited && result->status == 0) return {};
  return fail(0, shell + " -n rejects the result", first_line(result->output));
}

}  // namespace pvrdma::ctl::migration
