#include "agent/tools/migrate/edit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

#include "agent/base/program.hpp"
#include "agent/base/rooted_path.hpp"

namespace pvrdma::ctl::moving {

namespace {

using probes::kMigratedMark;
using probes::RecipeLine;

// Each line, its newline with it where it has one, given to `change` with its number from 1.
std::string each_line(std::string_view text,
                      const std::function<std::string(std::string_view, unsigned)>& change) {
  std::string result;
  for (unsigned number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto length = end == std::string_view::npos ? text.size() : end + 1;
    result += change(text.substr(0, length), number);
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

bool is_to_be_moved(const RecipeLine& line) {
  return line.kind == probes::LineKind::Driver && line.by_hand.empty();
}

std::string comment_out(std::string_view text, const std::vector<RecipeLine>& lines) {
  return each_line(text, [&](std::string_view line, unsigned number) {
    const bool goes = std::ranges::any_of(
        lines, [&](const RecipeLine& one) { return one.number == number && is_to_be_moved(one); });
    return std::string{goes ? kMigratedMark : ""} += line;
  });
}

std::string put_back(std::string_view text) {
  // Earlier versions put the second before the first line of a block.
  constexpr std::array<std::string_view, 2> kMarks{kMigratedMark, ": #pvrdma-agent# "};
  return each_line(text, [&](std::string_view line, unsigned) {
    for (const std::string_view mark : kMarks)
      if (line.starts_with(mark)) return std::string{line.substr(mark.size())};
    return std::string{line};
  });
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
  return fail(0, shell + " -n does not take the result", first_line(result->output));
}

}  // namespace pvrdma::ctl::moving
