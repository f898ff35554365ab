// SPDX-License-Identifier: GPL-2.0-or-later
// replay CORPUS INPUT: gives each target the files of its folder, and mutations of them, the same
// in every run. After a crash the last line on standard error names the file, and the file INPUT
// has the text that the target got.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/target.hpp"
#include "tests/unit/mutate.hpp"

namespace pvrdma::fuzz {

namespace {

namespace fs = std::filesystem;

// Pieces of the languages that the targets read.
constexpr const char* kPieces[] = {"[",
                                   "]",
                                   "{",
                                   "}",
                                   "\"",
                                   "'",
                                   "\"\"\"",
                                   ":",
                                   "::",
                                   ",",
                                   "=",
                                   ".",
                                   ";",
                                   "-",
                                   "+",
                                   "_",
                                   "#",
                                   "\n",
                                   "\n\n",
                                   "\r",
                                   "\t",
                                   " ",
                                   "\\",
                                   "\\\n",
                                   "\\u",
                                   "\\ud800",
                                   "\x01",
                                   "\x1b",
                                   "\xc3",
                                   "\xff",
                                   "\xff\xff\xff\xff",
                                   "é",
                                   "null",
                                   "true",
                                   "inf",
                                   "0x",
                                   "-1",
                                   "1e99",
                                   "1e999",
                                   "99999999999999999999",
                                   "1979-05-27",
                                   "/129",
                                   "[[[",
                                   "[[a]]",
                                   "[[adapter]]\n",
                                   "\"more\":true,",
                                   "$(",
                                   "`",
                                   "&&",
                                   "|",
                                   "----",
                                   "--  ---\n",
                                   "[root@e:~]",
                                   "esxcli ",
                                   "Path"};

std::string content(const fs::path& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

class Replay {
 public:
  explicit Replay(fs::path input) : input_(std::move(input)) {}

  // Returns the number of the target's files.
  std::size_t of(const Named& target, const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    give(target, "");
    for (const fs::path& file : files) {
      std::fprintf(stderr, "%s\n", file.c_str());
      const std::string text = content(file);
      give(target, text);
      for (unsigned n = 0; n < target.mutations; ++n)
        give(target, mutator_.mutated(text, 1 + mutator_.below(6)));
    }
    return files.size();
  }

 private:
  void give(const Named& target, const std::string& text) {
    std::ofstream{input_, std::ios::binary} << text;
    target.run(text);
  }

  fs::path input_;
  test::Mutator mutator_{kPieces};
};

}  // namespace

}  // namespace pvrdma::fuzz

int main(int count, char** words) {
  using namespace pvrdma::fuzz;
  if (count != 3) return 2;
  bool all_there = true;
  Replay replay{words[2]};
  for (const Named& target : targets()) {
    const std::size_t files = replay.of(target, fs::path{words[1]} / target.name);
    std::printf("%s: %zu inputs\n", target.name, files);
    all_there = all_there && files > 0;
  }
  std::error_code error;
  std::filesystem::remove(words[2], error);
  if (!all_there) std::printf("a target has no inputs\n");
  return all_there ? 0 : 1;
}
