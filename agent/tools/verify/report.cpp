#include "agent/tools/verify/report.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::ctl::selftest {

namespace {

constexpr int kExitNotLoaded = 127;  // ld.so(8)'s
constexpr std::size_t kMostRemarks = 8;

std::optional<Latency> latency_from(std::string_view words) {
  std::array<Nanoseconds, 3> times{};
  for (Nanoseconds& time : times) {
    const auto value = number_from<Nanoseconds::rep>(cut(words, ' '));
    if (!value) return std::nullopt;
    time = Nanoseconds{*value};
  }
  return Latency{times[0], times[1], times[2]};
}

class Reading {
 public:
  void line(std::string_view text) {
    const std::string_view whole = text;
    const std::string_view key = cut(text, '=');
    if (key.size() == whole.size() || !known(key, text)) remark(whole);
  }
  // How the program ended decides, where it did not say so itself.
  Report end(const ProgramResult& run) {
    if (report_.passed || report_.failure) return std::move(report_);
    StepFailure failure{step_, 0, 0, {}};
    if (run.ended == Ended::TimedOut) {
      failure.code = ETIMEDOUT;
      failure.what = run.left_behind != 0
                         ? "process " + std::to_string(run.left_behind) + " hangs in the kernel"
                         : "the call did not return";
    } else if (run.ended == Ended::Signalled) {
      failure.what = "the test was ended by signal " + std::to_string(run.status);
    } else if (run.ended == Ended::Exited) {
      failure.what = "the test ended with exit status " + std::to_string(run.status);
    } else {
      failure.what = "the test wrote without end";
    }
    report_.failure = std::move(failure);
    return std::move(report_);
  }

 private:
  // False: not a line of the helper program.
  bool known(std::string_view key, std::string_view value) {
    if (key == "step") return begin(step_of(value));
    if (key == "memlock") {
      report_.memlock_bytes = number_from<std::uint64_t>(value);
    } else if (key == "latency_ns") {
      report_.latency = latency_from(value);
    } else if (key == "write") {
      const bool proved = cut(value, ' ') == "proved";
      report_.write = RdmaWrite{proved, std::string{value}};
    } else if (key == "passed") {
      finish_step();
      report_.passed = true;
    } else if (key == "failed") {
      const auto code = number_from<int>(cut(value, ' '));
      const auto status = number_from<int>(cut(value, ' '));
      report_.failure =
          StepFailure{step_, code.value_or(0), status.value_or(0), std::string{value}};
    } else {
      return false;
    }
    return true;
  }
  bool begin(std::optional<Step> step) {
    if (!step) return false;
    finish_step();
    step_ = step;
    return true;
  }
  void finish_step() {
    if (step_) report_.done.push_back(*step_);
    step_.reset();
  }
  void remark(std::string_view text) {
    if (!text.empty() && report_.remarks.size() < kMostRemarks) report_.remarks.emplace_back(text);
  }

  Report report_;
  std::optional<Step> step_;
};

}  // namespace

Report report_of(const ProgramResult& run) {
  Reading reading;
  std::string_view rest = run.output;
  while (!rest.empty()) reading.line(cut(rest, '\n'));
  return reading.end(run);
}

bool lacks_libraries(const ProgramResult& run) {
  return run.ended == Ended::Exited && run.status == kExitNotLoaded;
}

}  // namespace pvrdma::ctl::selftest
