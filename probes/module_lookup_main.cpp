// module-lookup: what libkmod knows, for who does without it (module_lookup.hpp).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/base/guarded.hpp"
#include "probes/kmod.hpp"
#include "probes/module_lookup.hpp"

namespace {

using namespace pvrdma;

Result<std::string> shipped_lines(const std::string& which, const std::vector<std::string>& names) {
  std::string lines;
  for (const auto& shipped : which == probes::kFolderIsInput
                                 ? probes::find_shipped_without_rights(STDIN_FILENO, names)
                                 : probes::find_shipped(Root{}, which, names))
    lines += probes::lookup_line(shipped);
  return lines;
}

// EINVAL: nothing that is answered here.
Result<std::string> answer_to(const std::vector<std::string>& words) {
  const std::string asked = words.empty() ? "" : words.front();
  if (asked == probes::kLookUpShipped && words.size() > 2)
    return shipped_lines(words[1], {words.begin() + 2, words.end()});
  if (asked == probes::kLookUpSigner && words.size() == 2)
    return probes::module_signer(STDIN_FILENO, words[1]);
  if (asked == probes::kLookUpConfig && words.size() == 1)
    return probes::modprobe_lines(STDIN_FILENO);
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
    // At once: a sanitizer that looks for leaks at the end would need rights.
    const bool written = std::fflush(stdout) == 0;
    std::_Exit(answer && written ? EXIT_SUCCESS : EXIT_FAILURE);
  });
}
