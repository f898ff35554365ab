#include "agent/ctl/report/collect.hpp"

#include <poll.h>

#include <algorithm>
#include <set>

#include "agent/base/program.hpp"
#include "agent/base/text.hpp"
#include "agent/ctl/report/files.hpp"
#include "agent/ctl/text.hpp"

namespace pvrdma::ctl::bundle {

namespace {

std::string name_of(const std::string& program) { return program.substr(program.rfind('/') + 1); }

// One collection, and what is left of its bounds.
class Collector {
 public:
  Collector(const Surroundings& surroundings, const Bounds& bounds)
      : surroundings_(surroundings),
        bounds_(bounds),
        deadline_(BootClock::now() + bounds.time),
        bytes_left_(bounds.bytes) {}

  void collect(const Part& part) {
    if (const auto* command = std::get_if<Command>(&part.source))
      take(run(part, *command));
    else
      for (const std::string& path : std::get<Files>(part.source).paths) read(part, path);
  }
  std::vector<Entry> entries() && { return std::move(entries_); }

 private:
  void take(Entry entry) {
    if (entry.truncated) entry.content = whole_lines(std::move(entry.content));
    bytes_left_ -= std::min(bytes_left_, entry.content.size());
    entries_.push_back(std::move(entry));
  }

  // Why nothing more can be had; empty: it can.
  [[nodiscard]] std::string exhausted() const {
    pollfd stop{bounds_.stop_fd, POLLIN, 0};
    if (::poll(&stop, 1, 0) > 0) return "interrupted";
    if (BootClock::now() >= deadline_) return "the time for all parts was over";
    return bytes_left_ == 0 ? "the space for all parts was full" : "";
  }

  [[nodiscard]] Entry run(const Part& part, const Command& command) {
    Entry entry{part.name,
                joined(command.words, " "),
                Outcome::Skipped,
                exhausted(),
                "",
                false,
                part.optional,
                Milliseconds{0}};
    if (!entry.reason.empty()) return entry;
    const std::string name = name_of(command.words.front());
    if (hung_.count(name) > 0) {
      entry.reason = name + " has hung before";
      return entry;
    }
    Program program;
    program.words = command.words;
    program.words.front() = find_program(command.words.front(), surroundings_.path);
    if (program.words.front().empty()) {
      entry.outcome = Outcome::NotInstalled;
      entry.reason = name + " is not installed";
      return entry;
    }
    program.environment = surroundings_.environment;
    program.environment->push_back("PATH=" + surroundings_.path);
    program.timeout = std::min(part.limit, deadline_ - BootClock::now());
    // What a filter leaves is less, and counts by itself.
    program.output_limit_bytes =
        command.filter ? bounds_.bytes : std::min(part.limit_bytes, bytes_left_);
    program.stop_fd = bounds_.stop_fd;
    const BootTime start = BootClock::now();
    const auto result = run_program(program);
    entry.took = BootClock::now() - start;
    if (result && result->ended == Ended::TimedOut) hung_.insert(name);
    judge(entry, result, part, command);
    return entry;
  }

  void judge(Entry& entry, const Result<ProgramResult>& result, const Part& part,
             const Command& command) const {
    entry.outcome = Outcome::Failed;
    if (!result) {
      entry.reason = result.error().message();
      return;
    }
    const std::string& output = result->output;
    entry.truncated = result->ended != Ended::Exited;
    entry.content = command.filter ? command.filter(output) : output;
    const std::size_t limit = std::min(part.limit_bytes, bytes_left_);
    if (entry.content.size() > limit) {
      entry.content.resize(limit);
      entry.truncated = true;
    }
    // JSON has no first line that tells anything.
    const std::string said = output.empty() || output.front() == '{' ? "" : first_line(output);
    switch (result->ended) {
      case Ended::Exited:
        if (result->status <= command.good_status) {
          entry.outcome = Outcome::Good;
          return;
        }
        entry.reason = "exit status " + std::to_string(result->status) +
                       (said.empty() ? "" : ": " + shortened(printable(said), 120));
        return;
      case Ended::Flooded:
        entry.outcome = Outcome::Good;
        return;
      case Ended::Signalled:
        entry.reason = "ended by signal " + std::to_string(result->status);
        return;
      case Ended::TimedOut:
        entry.outcome = Outcome::TimedOut;
        entry.reason = "not done in " + span(entry.took);
        return;
      case Ended::Stopped:
        entry.reason = "interrupted";
    }
  }

  void read(const Part& part, const std::string& path) {
    const auto files = list_files(surroundings_.root, path, std::get<Files>(part.source).endings);
    if (!files) return take(failed(part, path, files.error()));
    for (const std::string& file : *files) read_one(part, file);
  }
  void read_one(const Part& part, const std::string& path) {
    Entry entry{part.name + path, path,           Outcome::Skipped, exhausted(), "", false,
                part.optional,    Milliseconds{0}};
    if (!entry.reason.empty()) return take(std::move(entry));
    const BootTime start = BootClock::now();
    auto content =
        read_known_file(surroundings_.root, path, std::min(part.limit_bytes, bytes_left_));
    if (!content && means_absent(content.error())) return;
    if (!content) return take(failed(part, path, content.error()));
    entry.took = BootClock::now() - start;
    entry.outcome = Outcome::Good;
    entry.content = std::move(content->content);
    entry.truncated = content->truncated;
    take(std::move(entry));
  }
  static Entry failed(const Part& part, const std::string& path, const Error& error) {
    return {part.name + path, path,           Outcome::Failed, error.message(), "", false,
            part.optional,    Milliseconds{0}};
  }

  const Surroundings& surroundings_;
  const Bounds& bounds_;
  BootTime deadline_;
  std::size_t bytes_left_;
  std::set<std::string> hung_;  // programs
  std::vector<Entry> entries_;
};

}  // namespace

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Good:
      return "good";
    case Outcome::Failed:
      return "failed";
    case Outcome::TimedOut:
      return "timed-out";
    case Outcome::NotInstalled:
      return "not-installed";
    case Outcome::Skipped:
      break;
  }
  return "skipped";
}

bool is_missed(const Entry& entry) {
  const bool is_dispensable = entry.optional && (entry.outcome == Outcome::NotInstalled ||
                                                 entry.outcome == Outcome::Failed);
  return entry.outcome != Outcome::Good && !is_dispensable;
}

std::vector<Entry> collect(const std::vector<Part>& parts, const Surroundings& surroundings,
                           const Bounds& bounds) {
  Collector collector{surroundings, bounds};
  for (const Part& part : parts) collector.collect(part);
  return std::move(collector).entries();
}

std::string whole_lines(std::string text) {
  const std::size_t end = text.rfind('\n');
  const std::size_t blank = text.rfind(' ');
  if (end != std::string::npos)
    text.resize(end + 1);
  else if (blank != std::string::npos)
    text.resize(blank);
  else
    text.clear();
  return text;
}

}  // namespace pvrdma::ctl::bundle
