// SPDX-License-Identifier: GPL-2.0-or-later
// The executor's JSON: operations and answers in the form of the interface file, both ways.
#include <cerrno>

#include "agent/codec/json.hpp"
#include "agent/varlink/interface.hpp"
#include "agent/varlink/interfaces.hpp"
#include "agent/varlink/message.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using namespace pvrdma::codec;
using varlink::kExecutorInterface;
using varlink::mismatch;
using varlink::parse_interface;
using varlink::parse_object;
using varlink::Strictness;
using varlink::to_text;

TEST_CASE("operations, both ways") {
  const auto interface = parse_interface(kExecutorInterface);
  REQUIRE(interface);
  const Operation operations[] = {
      LoadModule{"ib_umad"},
      BindFunction{"0000:13:00.1"},
      RebindFunction{"0000:13:00.1"},
      ReloadDriver{},
      ConfigureLink{"0000:13:00.1", "ens224f0", std::nullopt, {}},
      ConfigureLink{"0000:13:00.1", "ens224f0", 9000, {"192.168.30.201/24", "fd00::1/64"}},
      ConfigureLink{"0000:13:00.1", "ens224f0", std::nullopt, {}, true},
  };
  for (const Operation& operation : operations) {
    CAPTURE(describe(operation));
    const Json parameters = to_parameters(operation);
    CHECK_FALSE(mismatch(*interface, interface->methods.at(to_string(verb(operation))).in,
                         parameters, Strictness::Request));
    // Only where it is true, as executors of earlier versions refuse it.
    if (const auto* link = std::get_if<ConfigureLink>(&operation))
      CHECK(parameters.contains("removes") == link->removes);
    const auto back = operation_from(verb(operation), parse_object(to_text(parameters)).value());
    REQUIRE(back);
    CHECK(*back == operation);
  }
  CHECK(interface->methods.size() == std::variant_size_v<Operation>);
}

TEST_CASE("objects that are no operations") {
  const std::tuple<Verb, const char*, const char*> cases[] = {
      {Verb::LoadModule, "{}", "module"},
      {Verb::LoadModule, R"({"module":1})", "module"},
      {Verb::LoadModule, R"({"module":null})", "module"},
      {Verb::LoadModule, R"({"module":"a","force":true})", "force"},
      {Verb::LoadModule, "[]", ""},
      {Verb::ReloadDriver, R"({"x":1})", "x"},
      {Verb::ConfigureLink, R"({"function":"0000:13:00.1","netdev":"b"})", "addresses"},
      {Verb::ConfigureLink, R"({"function":"0000:13:00.1","netdev":"b","addresses":[1]})",
       "addresses[0]"},
      {Verb::ConfigureLink, R"({"function":"0000:13:00.1","netdev":"b","mtu":-1,"addresses":[]})",
       "mtu"},
      {Verb::ConfigureLink,
       R"({"function":"0000:13:00.1","netdev":"b","mtu":4294967296,"addresses":[]})", "mtu"},
      {Verb::ConfigureLink, R"({"function":"0000:13:00.1","netdev":"b","mtu":1.5,"addresses":[]})",
       "mtu"},
      {Verb::ConfigureLink,
       R"({"function":"0000:13:00.1","netdev":"b","addresses":[],"removes":1})", "removes"},
  };
  const auto interface = parse_interface(kExecutorInterface);
  REQUIRE(interface);
  for (const auto& [verb, text, what] : cases) {
    CAPTURE(to_string(verb), text);
    const Json parameters = Json::parse(text);
    // The service sees to it before an operation is made.
    if (const auto wrong = mismatch(*interface, interface->methods.at(to_string(verb)).in,
                                    parameters, Strictness::Request)) {
      CHECK(*wrong == what);
      continue;
    }
    const auto operation = operation_from(verb, parameters);
    REQUIRE_FALSE(operation);
    CHECK(operation.error().code == EINVAL);
    CHECK(operation.error().what == what);
  }
  const auto without_mtu =
      operation_from(Verb::ConfigureLink,
                     Json::parse(R"({"function":"0000:13:00.1","netdev":"b","addresses":[]})"));
  REQUIRE(without_mtu);
  CHECK(*without_mtu == Operation{ConfigureLink{"0000:13:00.1", "b", std::nullopt, {}}});
}

TEST_CASE("operations on impossible targets") {
  const auto what = [](Verb verb, const Json& parameters) {
    const auto operation = operation_from(verb, parameters);
    return operation ? std::string{} : operation.error().what;
  };
  CHECK(operation_from(Verb::LoadModule, {{"module", "vmw-pvrdma"}}).value() ==
        Operation{LoadModule{"vmw_pvrdma"}});
  CHECK(what(Verb::LoadModule, {{"module", std::string(55, 'a')}}).empty());
  for (const std::string& bad :
       {std::string(56, 'a'), std::string(60'000, 'a'), std::string{}, std::string{"../evil"},
        std::string{"/lib/x.ko"}, std::string{"ib umad"}, std::string{"ib_umad\n"},
        std::string{"a\0b", 3}, std::string{"\x1b[2J"}, std::string{"pci:v000015AD"}}) {
    CAPTURE(bad);
    CHECK(what(Verb::LoadModule, {{"module", bad}}) == "module");
  }
  for (const char* bad : {"", "../x", "0000:13:00.1/../x", "0000:13:00.1\n", "0000:13:00.8"})
    for (const Verb verb : {Verb::BindFunction, Verb::RebindFunction}) {
      CAPTURE(bad, to_string(verb));
      CHECK(what(verb, {{"function", bad}}) == "function");
    }
  for (const char* bad :
       {"", "..", "a/b", "sixteen-letters.", "eth0\n", "\x1b[2J", "eth\x7f", "\xc2\x9b", "a b"}) {
    CAPTURE(bad);
    Json link{{"function", "0000:13:00.1"}, {"netdev", bad}};
    link["addresses"] = Json::array();
    CHECK(what(Verb::ConfigureLink, link) == "netdev");
    link["netdev"] = "ens224f0";
    link["addresses"] = Json::array({"10.0.0.1/24", std::string{"10.0.0.1/24\n"} + bad});
    CHECK(what(Verb::ConfigureLink, link) == "addresses");
  }
}

TEST_CASE("answers, both ways") {
  const auto interface = parse_interface(kExecutorInterface);
  REQUIRE(interface);
  for (const Outcome outcome : {Outcome::Done, Outcome::AlreadyDone, Outcome::NotShipped,
                                Outcome::Refused, Outcome::InUse, Outcome::Failed}) {
    const OperationResult result{
        outcome, "because", EBUSY, {{812, "ibv_asyncwatch", "rocep19s0f1"}}};
    const Json json = to_json(result);
    CHECK_FALSE(mismatch(*interface, interface->types.at("Result"), json, Strictness::Complete));
    const auto back = result_from(json);
    REQUIRE(back);
    CHECK(*back == result);
  }
  const Json good = to_json(OperationResult{});
  for (const auto& [key, value] :
       {std::pair{"outcome", Json("great")}, std::pair{"errno", Json(-1)},
        std::pair{"errno", Json(1LL << 40)}, std::pair{"detail", Json(nullptr)},
        std::pair{"holders", Json::parse(R"([{"pid":-1,"command":"","rdma_device":""}])")}}) {
    Json bad = good;
    bad[key] = value;
    CAPTURE(key);
    CHECK(result_from(bad).error().code == EBADMSG);
  }
  Json newer = good;
  newer["later"] = 1;
  CHECK(result_from(newer));
}
