// A part of the report: where it comes from, its bounds, and what became of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "agent/base/clock.hpp"

namespace pvrdma::ctl::bundle {

inline constexpr std::size_t kKiB = 1024;

// What a program writes.
struct Command {
  std::vector<std::string> words;  // the program, by its path or as $PATH has it; arguments
  int good_status = 0;             // exit statuses up to this one mean that it told something
  std::function<std::string(std::string_view)> filter;  // of what it wrote; empty: all of it
};

// Files of known places: a file, or a directory's files that end with one of `endings`, each below
// the part's name. One that is not there is none that is missing.
struct Files {
  std::vector<std::string> paths;
  std::vector<std::string> endings;
};

struct Part {
  std::string name;  // in the archive, of a file or (of Files) of a directory
  std::variant<Command, Files> source;
  std::size_t limit_bytes = 512 * kKiB;
  Milliseconds limit = std::chrono::seconds{10};
  bool optional = false;  // not missed where its program is not installed, or has nothing to tell
};

enum class Outcome {
  Good,
  Failed,        // it said why, or the system did
  TimedOut,      // in `limit`
  NotInstalled,  // its program
  Skipped        // no time or space was left, or its program has hung before
};
[[nodiscard]] const char* word_of(Outcome outcome);

// A file of the archive.
struct Entry {
  std::string name;
  std::string source;  // "ip address", "/etc/os-release"
  Outcome outcome = Outcome::Good;
  std::string reason;   // of what is not good; one line
  std::string content;  // what there is of it, also where it is not good
  bool truncated = false;
  bool optional = false;
  Milliseconds took{0};
};
[[nodiscard]] bool is_missed(const Entry& entry);

}  // namespace pvrdma::ctl::bundle
