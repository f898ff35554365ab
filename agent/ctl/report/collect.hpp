// Getting the parts together, within bounds on time and size for all of them.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/ctl/report/part.hpp"

namespace pvrdma::ctl::bundle {

struct Bounds {
  Milliseconds time = std::chrono::seconds{60};
  std::size_t bytes = 32 * kKiB * kKiB;  // before compression
  int stop_fd = -1;                      // not owned; readable: no more. -1: nothing says so
};

struct Surroundings {
  Root root;                             // of files
  std::string path;                      // where programs are looked for, as $PATH
  std::vector<std::string> environment;  // of the programs, without PATH
};

// Every part in turn, each entry with what became of it. A program that was too slow once is not
// run again, as it would be too slow again.
[[nodiscard]] std::vector<Entry> collect(const std::vector<Part>& parts,
                                         const Surroundings& surroundings, const Bounds& bounds);

// What was cut off somewhere, without its last line: half an address would not be known for one.
[[nodiscard]] std::string whole_lines(std::string text);

}  // namespace pvrdma::ctl::bundle
