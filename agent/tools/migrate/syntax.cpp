#include "agent/tools/migrate/syntax.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "agent/base/program.hpp"
#include "agent/base/rooted_path.hpp"

namespace pvrdma::ctl::moving {

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
