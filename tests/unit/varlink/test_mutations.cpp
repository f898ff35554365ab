// SPDX-License-Identifier: GPL-2.0-or-later
// Seeded mutations of good traffic, through the decoder, the request parser and the parameters of
// every method, and through a whole service. With the sanitizers this is the layer's fuzz test.
#include "agent/codec/json.hpp"
#include "agent/codec/ledger_file.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/message.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/mutate.hpp"
#include "tests/unit/tries.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace pvrdma::varlink;

namespace {

const std::string kGood[] = {
    R"({"method":"io.pvrdma.Executor.ConfigureLink","parameters":{"function":"0000:13:00.1","netdev":"ens224f0","mtu":9000,"addresses":["192.168.30.201/24"]}})",
    R"({"method":"io.pvrdma.Executor.LoadModule","parameters":{"module":"ib_umad"},"more":false})",
    R"({"method":"org.example.Test.Echo","parameters":{"text":"\u00e4\\ \"","count":3,"points":[{"x":1,"y":2}]}})",
    R"({"method":"org.example.Test.Echo","parameters":{"text":"a"},"oneway":true})",
    R"({"method":"org.varlink.service.GetInfo","upgrade":true})",
};
const char* const kPieces[] = {"[",
                               "]",
                               "{",
                               "}",
                               "\"",
                               ":",
                               ",",
                               "\\",
                               "null",
                               "true",
                               "-1",
                               "1e99",
                               "\xff",
                               "\xc3",
                               "[[[",
                               "\"more\":true,",
                               "1e999",
                               "é",
                               "\\u",
                               "\\ud800",
                               "99999999999999999999",
                               "\x01"};

// A message with its end, after at most four changes.
std::string message_of(Mutator& mutator) {
  return mutator.mutated(kGood[mutator.below(std::size(kGood))], mutator.below(5)) + '\0';
}

}  // namespace

TEST_CASE("mutated messages, however they are cut, are requests or errors") {
  const auto interface = parse_interface(kExecutorInterface);
  REQUIRE(interface);
  Mutator mutator{kPieces};
  Decoder decoder{4096};
  int good = 0;
  int bad = 0;
  const unsigned messages = tries(20'000);
  for (unsigned i = 0; i < messages; ++i) {
    std::string_view rest;
    const std::string message = message_of(mutator);
    for (rest = message; !rest.empty();) {
      const std::size_t length = 1 + mutator.below(rest.size());
      decoder.feed(rest.substr(0, length));
      rest.remove_prefix(length);
      while (decoder.has_message()) {
        const auto text = decoder.next();
        REQUIRE(text);
        REQUIRE(*text);
        const auto request = request_from(**text);
        static_cast<void>(codec::ledger_from(**text));
        static_cast<void>(reply_from(**text));
        if (!request) {
          ++bad;
          CHECK(request.error().code == EBADMSG);
          continue;
        }
        ++good;
        for (const auto& [verb, name] : kWordsOf<Verb>) {
          // The service's part.
          if (mismatch(*interface, interface->methods.at(name).in, request->parameters,
                       Strictness::Request))
            continue;
          if (const auto operation = codec::operation_from(verb, request->parameters); !operation)
            CHECK(operation.error().code == EINVAL);
        }
      }
    }
  }
  CHECK_FALSE(decoder.has_part());
  CHECK(good > 100);
  CHECK(bad > 100);
}

TEST_CASE("mutated interface descriptions are parsed or refused") {
  Mutator mutator{kPieces};
  int bad = 0;
  for (int i = 0; i < 500; ++i) {
    std::string text{kExecutorInterface};
    const std::size_t at = mutator.below(text.size());
    if (mutator.below(2) == 0)
      text.erase(at, 1 + mutator.below(10));
    else
      text[at] = "(){}[]?:,->#\nax"[mutator.below(15)];
    bad += parse_interface(text) ? 0 : 1;
  }
  CHECK(bad > 50);
}

TEST_CASE("a service survives mutated clients") {
  ServiceFixture fixture;
  Mutator mutator{kPieces};
  for (int i = 0; i < 500; ++i) {
    const auto client = fixture.client();
    for (std::size_t n = 1 + mutator.below(4); n > 0; --n)
      static_cast<void>(client.send_some(message_of(mutator)));
    for (int round = 0; round < 3; ++round) sd_event_run(fixture.loop.get(), 0);
    fixture.kept.clear();
  }
  auto client = fixture.client();
  CHECK(client.ask(request("Echo", R"({"text":"a"})")) == R"({"parameters":{"text":"a"}})");
}
