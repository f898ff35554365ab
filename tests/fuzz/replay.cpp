// SPDX-License-Identifier: GPL-2.0-or-later
// replay CORPUS: gives each target the files of its folder. After a crash the last line on standard
// error names the file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/target.hpp"

int main(int count, char** words) {
  using namespace pvrdma::fuzz;
  namespace fs = std::filesystem;
  if (count != 2) return 2;
  bool all_there = true;
  for (const Named& target : targets()) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fs::path{words[1]} / target.name, error))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    target.run("");
    for (const fs::path& file : files) {
      std::ifstream stream{file, std::ios::binary};
      const std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
      std::fprintf(stderr, "%s\n", file.c_str());
      target.run(bytes);
    }
    std::printf("%s: %zu inputs\n", target.name, files.size());
    all_there = all_there && !files.empty();
  }
  if (!all_there) std::printf("a target has no inputs\n");
  return all_there ? 0 : 1;
}
