#include "agent/ctl/migrate/syntax.hpp"

#include <cerrno>

#include "agent/base/program.hpp"

namespace pvrdma::ctl::moving {

Result<void> check_syntax(const std::string& interpreter, const std::filesystem::path& script) {
  Program shell;
  shell.words = {interpreter, "-n", script.string()};
  const auto result = run_program(shell);
  if (!result) return fail(result.error());
  if (result->ended == Ended::TimedOut)
    return fail(ETIMEDOUT, "checking with " + interpreter + " -n", script);
  if (result->ended == Ended::Exited && result->status == 0) return {};
  return fail(0, interpreter + " -n does not take the result", first_line(result->output));
}

}  // namespace pvrdma::ctl::moving
