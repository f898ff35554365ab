// SPDX-License-Identifier: GPL-2.0-or-later
// The self-test's parts that open no device: figures, the helper program's lines, advice, printing.
#include <cerrno>
#include <nlohmann/json.hpp>

#include "agent/ctl/json_text.hpp"
#include "agent/tools/verify/devices.hpp"
#include "agent/tools/verify/selftest/report.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using namespace pvrdma::ctl::selftest;

namespace {

ProgramResult ran(std::string output, int status = 0, Ended ended = Ended::Exited) {
  return {ended, status, std::move(output), 0};
}
ProgramResult left_behind(std::string output) {
  return {Ended::TimedOut, 0, std::move(output), 812};
}

Gid gid(unsigned index, const char* text, const char* type) {
  return {index, text, std::string{type}, {}};
}

const char* const kPassed =
    "memlock=8388608\nstep=find\nstep=open\nlibibverbs: Warning: what=ever\nstep=message\n"
    "step=rounds\nlatency_ns=12340 20100 84000\nstep=write\nwrite=not-offered it refuses a write: "
    "Invalid argument\nstep=release\npassed=\n";

selftest::Report failed_at(Step step, int code, int status = 0) {
  selftest::Report report;
  report.device = "rocep19s0f1";
  report.failure = StepFailure{step, code, status, ""};
  return report;
}

}  // namespace

TEST_CASE("figures are measured times: nearest rank") {
  const auto of = [](std::vector<int> times) {
    std::vector<Nanoseconds> all;
    for (const int time : times) all.emplace_back(time);
    return latency_of(all);
  };
  using N = Nanoseconds;
  CHECK_FALSE(of({}));
  CHECK(of({7}) == Latency{N{7}, N{7}, N{7}});
  CHECK(of({9, 1}) == Latency{N{1}, N{9}, N{9}});
  CHECK(of({3, 1, 2}) == Latency{N{2}, N{3}, N{3}});
  std::vector<int> many;
  for (int time = 1000; time >= 1; --time) many.push_back(time);
  CHECK(of(many) == Latency{N{500}, N{990}, N{1000}});
}

TEST_CASE("each step has an id of its own") {
  for (int at = 0; at <= static_cast<int>(Step::Release); ++at) {
    const auto step = static_cast<Step>(at);
    CHECK(step_of(words_of(step).id) == step);
  }
  CHECK_FALSE(step_of("nosuch"));
}

TEST_CASE("the lines of a test that passed") {
  const selftest::Report report = report_of(ran(kPassed));
  CHECK(report.passed);
  CHECK_FALSE(report.failure);
  CHECK(report.memlock_bytes == 8388608U);
  CHECK(report.done == std::vector{Step::Find, Step::Open, Step::Message, Step::Rounds, Step::Write,
                                   Step::Release});
  CHECK(report.latency == Latency{Nanoseconds{12340}, Nanoseconds{20100}, Nanoseconds{84000}});
  CHECK(report.write == RdmaWrite{false, "it refuses a write: Invalid argument"});
  CHECK(report.remarks == std::vector<std::string>{"libibverbs: Warning: what=ever"});
  CHECK(report_of(ran("memlock=unlimited\nwrite=proved\n")).write == RdmaWrite{true, ""});
  CHECK_FALSE(report_of(ran("memlock=unlimited\n")).memlock_bytes);
}

TEST_CASE("the lines of a test that failed, and of one that ended without a word") {
  const selftest::Report said =
      report_of(ran("step=pd\nstep=memory\nfailed=12 0 65536 bytes\n", 1));
  CHECK_FALSE(said.passed);
  CHECK(said.done == std::vector{Step::Pd});
  CHECK(said.failure == StepFailure{Step::Memory, ENOMEM, 0, "65536 bytes"});

  const auto failure = [](const ProgramResult& run) { return *report_of(run).failure; };
  CHECK(failure(ran("step=message\nfailed=0 12 a send ended\n", 1)) ==
        StepFailure{Step::Message, 0, 12, "a send ended"});
  CHECK(failure(left_behind("step=cq\n")) ==
        StepFailure{Step::Cq, ETIMEDOUT, 0, "process 812 hangs in the kernel"});
  CHECK(failure(ran("step=cq\n", 0, Ended::TimedOut)) ==
        StepFailure{Step::Cq, ETIMEDOUT, 0, "the call did not return"});
  CHECK(failure(ran("step=cq\n", 11, Ended::Signalled)) ==
        StepFailure{Step::Cq, 0, 0, "the test was ended by signal 11"});
  CHECK(failure(ran("")) == StepFailure{{}, 0, 0, "the test ended with exit status 0"});
  // A helper that is killed while it writes leaves half a line.
  CHECK(failure(ran("step=cq\nstep=qu", 0, Ended::TimedOut)).step == Step::Cq);
  CHECK_FALSE(report_of(ran("latency_ns=1 2\npassed=\n")).latency);
}

TEST_CASE("a helper program without its libraries is told by the loader's exit status") {
  CHECK(lacks_libraries(ran("error while loading shared libraries", 127)));
  CHECK_FALSE(lacks_libraries(ran("", 1)));
  CHECK_FALSE(lacks_libraries(left_behind("")));
}

TEST_CASE("the GID of an IPv4 address first, RoCE v2 where there is a choice") {
  const Gid local = gid(0, "fe80::1", "RoCE v2"), v6 = gid(1, "fd00::1", "RoCE v2"),
            v4_old = gid(2, "::ffff:192.168.30.201", "IB/RoCE v1"),
            v4 = gid(5, "::ffff:192.168.30.201", "RoCE v2"),
            v4_later = gid(7, "::ffff:192.168.30.202", "RoCE v2"),
            v4_local = gid(3, "::ffff:169.254.0.1", "RoCE v2");
  const auto chosen = [](const std::vector<Gid>& gids) { return verify::choose_gid(gids)->index; };
  CHECK(chosen({local, v6, v4_old, v4_local, v4_later, v4}) == 5);
  CHECK(chosen({local, v6, v4_old}) == 2);
  CHECK(chosen({local, v4_local, v6}) == 1);
  CHECK(chosen({local}) == 0);
  CHECK(verify::choose_gid({}) == nullptr);
}

TEST_CASE("the person who has to act, and the remedy") {
  const auto who = [](const selftest::Report& report) {
    return std::string{advice_for(report).who};
  };
  const auto says = [](const selftest::Report& report, const char* text) {
    INFO(advice_for(report).remedy);
    return advice_for(report).remedy.find(text) != std::string::npos;
  };
  selftest::Report memory = failed_at(Step::Memory, ENOMEM);
  CHECK(says(memory, "used up"));
  memory.memlock_bytes = 0;
  CHECK(says(memory, "LimitMEMLOCK=infinity"));
  memory.failure->code = EPERM;
  CHECK(says(memory, "LimitMEMLOCK=infinity"));
  memory.memlock_bytes = 65536;
  CHECK_FALSE(says(memory, "LimitMEMLOCK=infinity"));
  memory.failure->step = Step::Cq;
  memory.failure->code = EAGAIN;
  CHECK(says(memory, "LimitMEMLOCK=infinity"));
  memory.failure->step = Step::Pd;
  CHECK_FALSE(says(memory, "LimitMEMLOCK=infinity"));
  CHECK(who(failed_at(Step::Find, ENODEV)) == "image");
  CHECK(says(failed_at(Step::Find, ENOSYS), "ib_uverbs"));
  CHECK(says(failed_at(Step::Open, EACCES), "/dev/infiniband"));
  CHECK(who(failed_at(Step::Port, ENETDOWN)) == "guest");
  CHECK(who(failed_at(Step::Message, 0, 12)) == "host");
  CHECK(who(failed_at(Step::Rounds, ETIMEDOUT)) == "host");
  CHECK(says(failed_at(Step::Message, EBADMSG), "wrong data"));
}

TEST_CASE("a report for people") {
  selftest::Report report = report_of(ran(kPassed));
  report.device = "rocep19s0f1";
  report.gid = gid(1, "::ffff:192.168.30.201", "RoCE v2");
  report.took = Milliseconds{412};
  CHECK(render(report, {.width = 100}) ==
        R"(rocep19s0f1: passed, in 412 ms
  GID           index 1, ::ffff:192.168.30.201, RoCE v2
  send/receive  16 KiB there and back, data as sent
  RDMA write    not offered by this device: it refuses a write: Invalid argument
  round trip    median 12.3 µs, p99 20.1 µs, max 84.0 µs (1000 rounds of 64 bytes, data as sent)
  locked memory at most 8192 KiB for this process
)");
  report =
      report_of(ran("memlock=0\nlibibverbs: Warning: \x1b[31m\nstep=pd\nstep=memory\n"
                    "failed=12 0 65536 bytes\n",
                    1));
  report.device = "rocep19s0f1";
  const std::string text = render(report, {.width = 100});
  CHECK(
      text.starts_with("rocep19s0f1: failed at registering memory: 65536 bytes: Cannot allocate "
                       "memory\n  locked memory at most 0 bytes for this process\n  done"));
  CHECK(text.find("guest ") != std::string::npos);
  CHECK(text.find("\\x1b[31m") != std::string::npos);
}

TEST_CASE("a report for programs") {
  selftest::Report passed = report_of(ran(kPassed));
  passed.device = "rocep19s0f1";
  passed.gid = gid(1, "::ffff:192.168.30.201", "RoCE v2");
  passed.took = Milliseconds{412};
  CHECK(to_json({passed}) == Json::parse(R"({"version": 1, "devices": [{
    "device": "rocep19s0f1", "passed": true, "took_ms": 412, "failure": null,
    "gid": {"index": 1, "gid": "::ffff:192.168.30.201", "type": "RoCE v2"},
    "steps": ["find", "open", "message", "rounds", "write", "release"], "send_receive": true,
    "rdma_write": {"offered": false, "why_not": "it refuses a write: Invalid argument"},
    "latency": {"rounds": 1000, "bytes": 64, "median_us": 12.34, "p99_us": 20.1, "max_us": 84.0},
    "memlock_bytes": 8388608, "remarks": ["libibverbs: Warning: what=ever"]}]})"));
  const Json failed = to_json({failed_at(Step::Message, 0, 12)})["devices"][0];
  CHECK(failed["failure"]["step"] == "message");
  CHECK(failed["failure"]["status"] == 12);
  CHECK(failed["failure"]["who"] == "host");
  for (const char* absent : {"gid", "rdma_write", "latency", "memlock_bytes"})
    CHECK(failed[absent].is_null());
}
