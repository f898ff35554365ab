// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/selftest/report.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::ctl::selftest {

namespace {

constexpr int kExitNotLoaded = 127;  // the status of ld.so(8)
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
  // The way the program ended decides, unless the program reported a failure itself.
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
  // False: the line is not the helper program's.
  bool known(std::string_view key, std::string_view value) {
    if (key == "step") {
      const auto step = step_of(value);
      if (!step) return false;
      finish_step();
      step_ = step;
    } else if (key == "memlock") {
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

constexpr const char* kGuest = "guest";
constexpr const char* kImage = "image";
constexpr const char* kHost = "host";

// The steps that lock pages: for the buffer, and for the queues.
bool locks_memory(Step step) {
  return step == Step::Memory || step == Step::Cq || step == Step::QueuePairs;
}

// With a limit of 0 no lock is too large, but all locks are forbidden (Linux
// drivers/infiniband/core/umem.c).
bool lacks_memory(const Report& report, int code) {
  return code == ENOMEM || code == EAGAIN || (code == EPERM && report.memlock_bytes == 0U);
}

Advice of_finding(int code) {
  if (code == ENOSYS) return {kGuest, "The kernel has no verbs devices: modprobe ib_uverbs"};
  return {kImage,
          "Install the library's PVRDMA part: ibverbs-providers (Debian, Ubuntu), libibverbs "
          "(Enterprise Linux). Or the device's node is missing: give a container /dev/infiniband."};
}

Advice of_opening(int code) {
  if (code == EACCES || code == EPERM)
    return {kGuest,
            "This process may not open the device's node in /dev/infiniband: look at its mode "
            "(rdma-core's is 0666), or give the container that device."};
  return {kGuest, "`pvrdma-agentctl health` and the kernel's log (dmesg) say more."};
}

Advice of_lacking_memory(const Report& report) {
  if (report.memlock_bytes)
    return {kGuest,
            "Raise the limit of locked memory: LimitMEMLOCK=infinity in a service's unit, `* - "
            "memlock unlimited` in /etc/security/limits.d for logins, --ulimit memlock=-1 for a "
            "container."};
  return {kGuest,
          "Memory, or the device's own resources, are used up: `rdma resource` shows who "
          "holds them."};
}

Advice of_traffic(const StepFailure& failure) {
  if (failure.code == ETIMEDOUT || failure.status != 0)
    return {kHost,
            "The device took the work and did not carry it out. The guest's log (dmesg) and the "
            "host's (/var/log/vmkernel.log, lines with pvrdma) say why."};
  if (failure.code == EBADMSG || failure.code == EMSGSIZE)
    return {kHost, "The device delivers wrong data: use it for nothing, and report it to VMware."};
  return {kGuest, "The kernel's log (dmesg) says more."};
}

}  // namespace

Report report_of(const ProgramResult& run) {
  Reading reading;
  std::string_view rest = run.output;
  while (!rest.empty()) reading.line(cut(rest, '\n'));
  return reading.end(run);
}

Advice advice_for(const Report& report) {
  const StepFailure failure = report.failure.value_or(StepFailure{});
  if (!failure.step) return {kGuest, "`pvrdma-agentctl health` says why."};
  const Step step = *failure.step;
  if (locks_memory(step) && lacks_memory(report, failure.code)) return of_lacking_memory(report);
  switch (step) {
    case Step::Find:
      return of_finding(failure.code);
    case Step::Open:
      return of_opening(failure.code);
    case Step::Port:
      return {kGuest,
              "`pvrdma-agentctl health` says why the port is not ACTIVE, and who can mend "
              "it; without an adapter's agent: bring its interface up."};
    case Step::Gid:
      return {kGuest, "Bring the device's interface up and give it an address."};
    case Step::Rtr:
      return {kGuest,
              "The GID cannot reach itself: does its interface still have the address"
              ", and is it in this network namespace?"};
    case Step::Message:
    case Step::Rounds:
    case Step::Write:
      return of_traffic(failure);
    default:
      return {kGuest, "The driver refuses it: the kernel's log (dmesg) says more."};
  }
}

bool lacks_libraries(const ProgramResult& run) {
  return run.ended == Ended::Exited && run.status == kExitNotLoaded;
}

}  // namespace pvrdma::ctl::selftest
