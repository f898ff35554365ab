// module-lookup RELEASE NAME...: whether that kernel's module index has each module, a line each
// (module_lookup.hpp). For the daemon, so that libkmod is in memory only while something is looked
// up.
#include <cstdio>
#include <string>
#include <vector>

#include "agent/base/guarded.hpp"
#include "probes/module_index.hpp"
#include "probes/module_lookup.hpp"

int main(int argc, char** argv) {
  return pvrdma::guarded_main([&] {
    if (argc < 3) {
      std::fputs("usage: module-lookup RELEASE NAME...\n", stderr);
      return 2;
    }
    const std::vector<std::string> names(argv + 2, argv + argc);
    for (const auto& shipped : pvrdma::probes::find_shipped(pvrdma::Root{}, argv[1], names))
      std::fputs(pvrdma::probes::lookup_line(shipped).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  });
}
