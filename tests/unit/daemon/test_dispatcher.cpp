// The dispatcher against a real socket: a stand-in executor that answers, refuses, dies or hangs.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "agent/daemon/dispatcher.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/service.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;

namespace {

using Calls = std::vector<std::string>;

class Bench {
 public:
  explicit Bench(bool listens = true, Milliseconds patience = Dispatcher::kSocketPatience) {
    sd_event* raw = nullptr;
    REQUIRE(sd_event_new(&raw) >= 0);
    event.reset(raw);
    service =
        std::make_unique<varlink::Service>(event.get(), varlink::About{"test", "test", "1", ""});
    const auto on = [this](varlink::CallPtr call) {
      seen.push_back(call->method().substr(call->method().rfind('.') + 1));
      if (hang) {
        kept = std::move(call);
        return;
      }
      if (!error.empty()) return call->error(error, {{"parameter", "netdev"}});
      Report answer;
      answer.outcome = outcome;
      call->reply({{"result", codec::to_json(answer)}});
    };
    REQUIRE(service->add_interface(varlink::kExecutorInterface, {{"LoadModule", on},
                                                                 {"BindFunction", on},
                                                                 {"RebindFunction", on},
                                                                 {"ReloadDriver", on},
                                                                 {"ConfigureLink", on}}));
    if (listens) REQUIRE(service->listen(path, 0600));
    dispatcher = std::make_unique<Dispatcher>(
        event.get(),
        Dispatcher::Events{[this](const Operation&, const Result<Report>& answer) {
                             answers.push_back(answer ? to_string(answer->outcome)
                                                      : answer.error().message());
                           },
                           [] {}, [this] { idle = true; }},
        path, patience);
  }
  ~Bench() { unlink(path.c_str()); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  Bench(Bench&&) = delete;
  Bench& operator=(Bench&&) = delete;

  // Until nothing is left to do, at most two seconds.
  void spin() {
    const BootTime end = BootClock::now() + Milliseconds{2000};
    while (!idle && BootClock::now() < end) sd_event_run(event.get(), 20'000);
  }

  std::string path = "/tmp/pvrdma-dispatcher-" + std::to_string(getpid());
  Handle<sd_event, sd_event_unref> event;
  std::unique_ptr<varlink::Service> service;
  std::unique_ptr<Dispatcher> dispatcher;
  varlink::CallPtr kept;
  bool hang = false;
  bool idle = false;
  Outcome outcome = Outcome::Done;
  std::string error;  // answered to each call; empty: `outcome` is
  Calls seen, answers;
};

const std::vector<Action> kTwoLoads{{LoadModule{"ib_umad"}, "a"}, {LoadModule{"rdma_cm"}, "b"}};
const std::vector<Action> kBindThenLink{{BindFunction{"0000:00:10.1"}, "a"},
                                        {ConfigureLink{"0000:00:10.1", "ens16f0", {}, {}}, "b"}};

}  // namespace

TEST_CASE("actions go out one by one, in order") {
  Bench bench;
  bench.dispatcher->carry_out(kTwoLoads);
  REQUIRE(bench.dispatcher->busy());
  CHECK(describe(*bench.dispatcher->busy()) == "LoadModule ib_umad");
  bench.spin();
  CHECK(bench.seen == Calls{"LoadModule", "LoadModule"});
  CHECK(bench.answers == Calls{"done", "done"});
  CHECK_FALSE(bench.dispatcher->busy());
  CHECK(bench.dispatcher->last_answer() != BootTime{});
}

TEST_CASE("what was answered is remembered, with its times") {
  Bench bench;
  bench.dispatcher->carry_out({{ReloadDriver{}, "a"}, {BindFunction{"0000:00:10.1"}, "b"}});
  bench.spin();
  const Ledger& answered = bench.dispatcher->answered();
  REQUIRE(answered.attempts.size() == 2);
  CHECK(answered.attempts[1].verb == Verb::BindFunction);
  CHECK(answered.attempts[1].target == "0000:00:10.1");
  CHECK(answered.attempts[1].started >= *answered.attempts[0].finished);
  CHECK(answered.attempts[1].finished == bench.dispatcher->last_answer());
  CHECK(answered.reloads == 1);
  CHECK(answered.rebinds == 0);
  SECTION("a refusal by itself") {
    bench.outcome = Outcome::InUse;
    bench.idle = false;
    bench.dispatcher->carry_out({{ReloadDriver{}, "a"}});
    bench.spin();
    CHECK(answered.attempts.size() == 2);
    CHECK(answered.refusals.size() == 1);
    CHECK(answered.reloads == 1);
  }
  SECTION("not what was never looked at") {
    bench.service.reset();
    unlink(bench.path.c_str());
    bench.idle = false;
    bench.dispatcher->carry_out({{ReloadDriver{}, "a"}});
    bench.spin();
    CHECK(answered.attempts.size() == 2);
    CHECK(answered.refusals.empty());
  }
}

TEST_CASE("after a failure nothing that rests on it is tried; modules are tried each on its own") {
  Bench bench;
  bench.outcome = Outcome::Failed;
  bench.dispatcher->carry_out(kBindThenLink);
  bench.spin();
  CHECK(bench.seen == Calls{"BindFunction"});
  bench.idle = false;
  bench.seen.clear();
  bench.dispatcher->carry_out(kTwoLoads);
  bench.spin();
  CHECK(bench.seen == Calls{"LoadModule", "LoadModule"});
}

TEST_CASE("what the newest plan no longer holds is not carried out") {
  Bench bench;
  bench.dispatcher->carry_out(kTwoLoads);
  bench.dispatcher->keep_only({});
  bench.spin();
  CHECK(bench.seen == Calls{"LoadModule"});
}

TEST_CASE("a call that hangs keeps its name and blocks nothing but further calls") {
  Bench bench;
  bench.hang = true;
  bench.dispatcher->carry_out(kTwoLoads);
  for (int i = 0; i < 10; ++i) sd_event_run(bench.event.get(), 10'000);
  REQUIRE(bench.dispatcher->busy());
  CHECK(describe(*bench.dispatcher->busy()) == "LoadModule ib_umad");
  bench.dispatcher->carry_out(kBindThenLink);
  CHECK(bench.seen == Calls{"LoadModule"});
  SECTION("when it comes back the rest goes on") {
    bench.hang = false;
    Report answer;
    answer.outcome = Outcome::Done;
    bench.kept->reply({{"result", codec::to_json(answer)}});
    bench.kept.reset();
    bench.spin();
    CHECK(bench.answers == Calls{"done", "done"});
  }
  SECTION("when the executor dies in it that is an answer too") {
    bench.kept.reset();
    bench.hang = false;
    bench.service.reset();
    bench.spin();
    CHECK(bench.answers.size() == 2);
    CHECK_FALSE(bench.dispatcher->busy());
  }
}

TEST_CASE("no executor at all is an answer, not a wait") {
  Bench bench{true, Milliseconds{0}};
  bench.service.reset();
  unlink(bench.path.c_str());
  bench.dispatcher->carry_out(kTwoLoads);
  bench.spin();
  CHECK(bench.answers.size() == 2);
  CHECK(bench.idle);
}

TEST_CASE("an executor that is not there is asked again after a pause, not at once") {
  Bench bench{false, Milliseconds{0}};
  bench.dispatcher->carry_out(kTwoLoads);
  bench.spin();
  REQUIRE(bench.answers.size() == 2);
  REQUIRE(bench.dispatcher->unreached());
  CHECK(bench.dispatcher->unreached()->code == ENOENT);
  // What the look after it would have done.
  bench.idle = false;
  bench.dispatcher->carry_out(kTwoLoads);
  CHECK_FALSE(bench.dispatcher->busy());
  for (int i = 0; i < 5; ++i) sd_event_run(bench.event.get(), 10'000);
  CHECK(bench.answers.size() == 2);
  REQUIRE_FALSE(bench.idle);
  // The pause ends by itself, and leads to a look.
  REQUIRE(bench.service->listen(bench.path, 0600));
  bench.spin();
  REQUIRE(bench.idle);
  bench.idle = false;
  bench.dispatcher->carry_out(kTwoLoads);
  bench.spin();
  CHECK(bench.answers.size() == 4);
  CHECK(bench.answers.back() == "done");
  CHECK_FALSE(bench.dispatcher->unreached());
  // Once it was reached there is no pause any more.
  bench.dispatcher->carry_out(kTwoLoads);
  CHECK(bench.dispatcher->busy());
}

TEST_CASE("whatever keeps it from being connected to, the executor is asked again after a pause") {
  Bench bench{false, Milliseconds{0}};
  const Fd other{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  bench.path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  bench.dispatcher->carry_out(kTwoLoads);
  bench.spin();
  REQUIRE(bench.answers.size() == 2);
  bench.dispatcher->carry_out(kTwoLoads);
  CHECK_FALSE(bench.dispatcher->busy());
  REQUIRE(bench.dispatcher->unreached());
  CHECK(bench.dispatcher->unreached()->message().find("Protocol wrong type") != std::string::npos);
  CHECK(bench.dispatcher->not_understood().attempts.empty());
}

TEST_CASE("an executor that dies in a call was reached, and is not asked the same again") {
  Bench bench;
  bench.hang = true;
  bench.dispatcher->carry_out({{ReloadDriver{}, "a"}});
  for (int i = 0; i < 10 && !bench.kept; ++i) sd_event_run(bench.event.get(), 10'000);
  REQUIRE(bench.kept);
  // In this order: a call that is dropped before its connection is answered.
  bench.service.reset();
  bench.kept.reset();
  bench.spin();
  CHECK(bench.answers.size() == 1);
  CHECK_FALSE(bench.dispatcher->unreached());
  // It may have died before it wrote that down.
  const Ledger& tried = bench.dispatcher->not_understood();
  REQUIRE(tried.attempts.size() == 1);
  CHECK(tried.attempts[0].outcome == Outcome::Failed);
  CHECK(tried.attempts[0].detail == bench.answers[0]);
}

TEST_CASE("what the executor cannot read is a try in vain") {
  Bench bench;
  bench.error = "org.varlink.service.InvalidParameter";
  bench.dispatcher->carry_out(kBindThenLink);
  bench.spin();
  CHECK(bench.answers == Calls{"failed"});
  CHECK(bench.dispatcher->answered() == Ledger{});
  const Ledger& tried = bench.dispatcher->not_understood();
  REQUIRE(tried.attempts.size() == 1);
  CHECK(tried.attempts[0].verb == Verb::BindFunction);
  CHECK(tried.attempts[0].target == "0000:00:10.1");
  CHECK(tried.attempts[0].outcome == Outcome::Failed);
  CHECK(tried.attempts[0].detail ==
        R"(the executor answered org.varlink.service.InvalidParameter {"parameter":"netdev"})");
}

TEST_CASE("the executor's socket may come after the first call, once and within its time") {
  SECTION("it comes") {
    Bench bench{false};
    bench.dispatcher->carry_out(kTwoLoads);
    for (int i = 0; i < 5; ++i) sd_event_run(bench.event.get(), 10'000);
    CHECK(bench.answers.empty());
    CHECK(bench.dispatcher->busy());
    bench.dispatcher->keep_only({});
    REQUIRE(bench.service->listen(bench.path, 0600));
    bench.spin();
    CHECK(bench.answers == Calls{"done"});
  }
  SECTION("it does not come in time") {
    Bench bench{false, Milliseconds{100}};
    bench.dispatcher->carry_out({{ReloadDriver{}, "a"}});
    bench.spin();
    REQUIRE(bench.answers.size() == 1);
    CHECK(bench.answers[0].find("No such file") != std::string::npos);
  }
}
