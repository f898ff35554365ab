// module-lookup RELEASE|- NAME...: whether that kernel's module index has each module, a line each
// (module_lookup.hpp). For the daemon, so that libkmod is in memory only while something is looked
// up; "-" for whoever looks into a kernel that may be anybody's.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/base/guarded.hpp"
#include "probes/module_index.hpp"
#include "probes/module_lookup.hpp"

int main(int argc, char** argv) {
  using namespace pvrdma;
  return guarded_main([&] {
    if (argc < 3) {
      std::fputs("usage: module-lookup RELEASE|- NAME...\n", stderr);
      return 2;
    }
    const std::string which = argv[1];
    const std::vector<std::string> names(argv + 2, argv + argc);
    for (const auto& shipped : which == probes::kFolderIsInput
                                   ? probes::find_shipped_without_rights(STDIN_FILENO, names)
                                   : probes::find_shipped(Root{}, which, names))
      std::fputs(probes::lookup_line(shipped).c_str(), stdout);
    // At once: a sanitizer that looks for leaks at the end would need rights.
    std::_Exit(std::fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
  });
}
