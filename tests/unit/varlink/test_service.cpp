// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of a service: routing, parameters, order, more, oneway, and what handlers may do with
// a call.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <thread>

#include "build_config.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

// From now on send(2) fails in this thread, as where the kernel has no memory for the data.
bool sending_fails() {
  std::array<sock_filter, 4> filter{
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_sendto},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOBUFS},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{filter.size(), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

TEST_CASE("a client whose answer cannot be sent does not wait for it") {
  bool asked = false;
  bool cut_off = false;
  std::thread{[&] {
    ServiceFixture fixture;
    auto client = fixture.client();
    asked = client.call(request("Echo", R"({"text":"a"})")) && sending_fails();
    cut_off = client.is_cut_off();
  }}.join();
  REQUIRE(asked);
  CHECK(cut_off);
}

TEST_CASE("replies and errors") {
  ServiceFixture fixture;
  auto client = fixture.client();
  const std::pair<std::string, const char*> cases[] = {
      // Characters that a terminal or a log would act on are escaped: DEL, a C1 control, U+202E.
      {request("Echo", "{\"text\":\"hä\x7f\xc2\x9b\xe2\x80\xae\"}"),
       R"({"parameters":{"text":"h\u00e4\u007f\u009b\u202e"}})"},
      {request("Echo", R"({"text":"a","count":null,"points":[{"x":1,"y":2}]})"),
       R"({"parameters":{"text":"a"}})"},
      {request("Echo", R"({"text":"odd"})"),
       R"({"error":"org.example.Test.Odd","parameters":{"why":"asked"}})"},
      {request("Echo"),
       R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"text"}})"},
      {R"({"method":"org.example.Test.Echo"})",
       R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"text"}})"},
      {request("Echo", R"({"text":1})"),
       R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"text"}})"},
      {request("Echo", R"({"text":"a","extra":1})"),
       R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"extra"}})"},
      {request("Echo", R"({"text":"a","points":[{"x":1}]})"),
       R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"points[0].y"}})"},
      {request("Echo", R"({"text":"a"})", R"(,"upgrade":true)"),
       R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"upgrade"}})"},
      {request("Nothing"),
       R"({"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.example.Test.Nothing"}})"},
      {R"({"method":"org.example.Other.Echo"})",
       R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example.Other"}})"},
      {R"({"method":"Echo"})",
       R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"Echo"}})"},
      {request("Drop"),
       R"({"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"org.example.Test.Drop"}})"},
      {R"({"method":"org.varlink.service.GetInfo"})",
       R"({"parameters":{"interfaces":["org.example.Test","org.varlink.service"],"product":"test","url":"","vendor":"pvrdma-agent","version":")" PVRDMA_VERSION
       R"("}})"},
      {R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"x.y"}})",
       R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"x.y"}})"},
      {R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{}})",
       R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}})"},
  };
  for (const auto& [question, answer] : cases) {
    CAPTURE(question);
    CHECK(client.ask(question) == answer);
  }
  const auto description = client.ask(
      R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example.Test"}})");
  REQUIRE(description);
  CHECK(description->find(R"(interface org.example.Test\n)") != std::string::npos);
}

TEST_CASE("a request in single bytes") {
  ServiceFixture fixture;
  auto client = fixture.client();
  for (const char c : request("Echo", R"({"text":"a"})") + '\0') REQUIRE(client.send({&c, 1}));
  CHECK(client.receive() == R"({"parameters":{"text":"a"}})");
}

TEST_CASE("pipelined requests are answered in order, even where one takes long") {
  ServiceFixture fixture;
  auto client = fixture.client();
  std::string all = request("Later") + '\0';
  for (int i = 0; i < 100; ++i)
    all += request("Echo", R"({"text":")" + std::to_string(i) + "\"}") + '\0';
  REQUIRE(client.send(all));
  REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
  // The service had the chance to answer the others out of order.
  auto other = fixture.client();
  REQUIRE(other.ask(request("Echo", R"({"text":"other"})")));
  CHECK(fixture.echoed == std::vector<std::string>{"other"});
  fixture.kept.at(0)->reply_text("{}", false);
  CHECK(client.receive() == R"({"parameters":{}})");
  for (int i = 0; i < 100; ++i)
    CHECK(client.receive() == R"({"parameters":{"text":")" + std::to_string(i) + "\"}}");
}

TEST_CASE("a watch has several replies") {
  ServiceFixture fixture;
  auto client = fixture.client();
  REQUIRE(client.call(request("Watch", "{}", R"(,"more":true)")));
  REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
  auto& call = *fixture.kept.at(0);
  CHECK(call.wants_more());
  CHECK(call.peer_uid() == ::geteuid());
  call.reply_text(R"({"n":1})", true);
  CHECK(client.receive() == R"({"parameters":{"n":1},"continues":true})");
  call.reply_text(R"({"n":2})", true);
  call.reply_text(R"({"n":3})", false);
  call.reply_text(R"({"n":4})", false);  // one too many: it has no effect
  CHECK(client.receive() == R"({"parameters":{"n":2},"continues":true})");
  CHECK(client.receive() == R"({"parameters":{"n":3}})");
  CHECK(client.ask(request("Echo", R"({"text":"a"})")) == R"({"parameters":{"text":"a"}})");
}

TEST_CASE("without `more` the first reply is the last") {
  ServiceFixture fixture;
  auto client = fixture.client();
  REQUIRE(client.call(request("Watch")));
  REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
  fixture.kept.at(0)->reply_text(R"({"n":1})", true);
  fixture.kept.at(0)->reply_text(R"({"n":2})", true);
  CHECK(client.receive() == R"({"parameters":{"n":1}})");
  CHECK(client.ask(request("Echo", R"({"text":"a"})")) == R"({"parameters":{"text":"a"}})");
}

TEST_CASE("oneway") {
  ServiceFixture fixture;
  auto client = fixture.client();
  SECTION("has no reply, no error, and does not hold up the next") {
    REQUIRE(client.call(request("Echo", R"({"text":"a"})", R"(,"oneway":true)")));
    REQUIRE(client.call(request("Nothing", "{}", R"(,"oneway":true)")));
    REQUIRE(client.call(request("Drop", "{}", R"(,"oneway":true)")));
    CHECK(client.ask(request("Echo", R"({"text":"b"})")) == R"({"parameters":{"text":"b"}})");
    CHECK(fixture.echoed == std::vector<std::string>{"a", "b"});
  }
  SECTION("is done although the client leaves at once, even many of them") {
    for (int i = 0; i < 30; ++i)
      REQUIRE(client.send_some(request("Echo", R"({"text":"a"})", R"(,"oneway":true)") + '\0') > 0);
    client.leave();
    CHECK(fixture.loop.run_until([&] { return fixture.idle == 1; }));
    CHECK(fixture.echoed.size() == 30);
  }
}

TEST_CASE("a client that writes nothing more still gets its replies") {
  ServiceFixture fixture;
  auto client = fixture.client();
  REQUIRE(client.call(request("Later")));
  REQUIRE(client.call(request("Echo", R"({"text":"a"})")));
  client.shut_writing();
  REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
  fixture.kept.at(0)->reply_text("{}", false);
  CHECK(client.receive() == R"({"parameters":{}})");
  CHECK(client.receive() == R"({"parameters":{"text":"a"}})");
  CHECK(client.is_cut_off());
  CHECK(fixture.service.clients() == 0);
}

TEST_CASE("a client that leaves") {
  ServiceFixture fixture;
  auto client = fixture.client();
  REQUIRE(client.call(request("Watch", "{}", R"(,"more":true)")));
  REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
  CHECK_FALSE(fixture.kept.at(0)->gone());
  CHECK(fixture.service.clients() == 1);
  CHECK(fixture.idle == 0);
  client.leave();
  CHECK(fixture.loop.run_until([&] { return fixture.kept.at(0)->gone(); }));
  fixture.kept.at(0)->reply_text(R"({"n":1})", true);
  fixture.kept.clear();
  CHECK(fixture.service.clients() == 0);
  CHECK(fixture.idle == 1);
}

TEST_CASE("of a client that has left only oneway calls are done") {
  ServiceFixture fixture;
  auto client = fixture.client();
  const std::string call = request("Echo", R"({"text":"in vain"})");
  const std::string oneway = request("Echo", R"({"text":"a"})", R"(,"oneway":true)");
  REQUIRE(client.send_some(call + '\0' + oneway + '\0' + call + '\0') > 0);
  client.leave();
  CHECK(fixture.loop.run_until([&] { return fixture.idle == 1; }));
  CHECK(fixture.echoed == std::vector<std::string>{"a"});
}

TEST_CASE("a call outlives its service") {
  std::vector<varlink::CallPtr> kept;
  {
    ServiceFixture fixture;
    auto client = fixture.client();
    REQUIRE(client.call(request("Later")));
    REQUIRE(fixture.loop.run_until([&] { return fixture.kept.size() == 1; }));
    kept = std::move(fixture.kept);
  }
  CHECK(kept.at(0)->gone());
  kept.at(0)->reply_text("{}", false);
}

TEST_CASE("interfaces that do not fit their handlers") {
  Loop loop;
  varlink::Service service{loop.get(), "test"};
  const varlink::Handler none = [](auto&&) {};
  CHECK(service.add_interface("interface a.b\nmethod M() -> ()", {}).error().what == "M");
  CHECK(service.add_interface("interface a.b", {{"M", none}}).error().what == "M");
  CHECK(service.add_interface("interface a.b\nmethod M() -> ()", {{"M", {}}}).error().what == "M");
  CHECK(service.add_interface("nonsense", {}).error().code == EINVAL);
  CHECK(service.add_interface("interface a.b", {}));
  CHECK(service.add_interface("interface a.b", {}).error().code == EEXIST);
}
