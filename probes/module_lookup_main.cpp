// SPDX-License-Identifier: GPL-2.0-or-later
// module-lookup: asks libkmod for programs that are not linked with it (module_lookup.hpp).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/base/guarded.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/program.hpp"
#include "probes/kmod.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/module_lookup.hpp"

namespace {

using namespace pvrdma;

Result<std::string> shipped_lines(const std::string& which, const std::vector<std::string>& names) {
  std::string lines;
  for (const auto& entry : which == probes::kFolderIsInput
                               ? probes::find_shipped_without_rights(STDIN_FILENO, names)
                               : probes::find_shipped(Root{}, which, names))
    lines += probes::lookup_line(entry);
  return lines;
}

Result<std::string> lines_of_modprobe() {
  if (auto given_up = give_up_rights(); !given_up) return fail(given_up.error());
  const Fd input{STDIN_FILENO};
  const auto text = read_file(input, "modprobe.d", probes::kModprobeLimitBytes);
  if (!text) return fail(text.error());
  return probes::print_modprobe_lines(probes::parse_modprobe(*text));
}

// EINVAL: the arguments are not valid.
Result<std::string> answer_to(const std::vector<std::string>& words) {
  const std::string asked = words.empty() ? "" : words.front();
  if (asked == probes::kLookUpShipped && words.size() > 2)
    return shipped_lines(words[1], {words.begin() + 2, words.end()});
  if (asked == probes::kLookUpSigner && words.size() == 2)
    return probes::module_signer(STDIN_FILENO, words[1]);
  if (asked == probes::kLookUpConfig && words.size() == 1) return lines_of_modprobe();
  return fail(EINVAL, "expected \"shipped RELEASE|- NAME...\", \"signer NAME\"", "or \"config\"");
}

}  // namespace

int main(int argc, char** argv) {
  return guarded_main([&] {
    const auto answer = answer_to({argv + 1, argv + argc});
    if (answer)
      std::fputs(answer->c_str(), stdout);
    else
      std::fprintf(stderr, "module-lookup: %s\n", answer.error().message().c_str());
    // Exits at once, as a sanitizer that looks for leaks at the end would need rights.
    const bool written = std::fflush(stdout) == 0;
    std::_Exit(answer && written ? EXIT_SUCCESS : EXIT_FAILURE);
  });
}
