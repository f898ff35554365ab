// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/varlink/service_fixture.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace pvrdma::test {

using varlink::CallPtr;

ServiceFixture::ServiceFixture(const varlink::Limits& limits)
    : service(loop.get(), "test", limits) {
  const auto keep = [this](CallPtr call) { kept.push_back(std::move(call)); };
  const auto echo = [this](const CallPtr& call) {
    const auto text = call->parameters().at("text").get<std::string>();
    echoed.push_back(text);
    if (text == "odd") return call->error("org.example.Test.Odd", {{"why", "asked"}});
    call->reply({{"text", text}});
  };
  const auto big = [](const CallPtr& call) {
    call->reply({{"filler", std::string(call->parameters().at("bytes").get<std::size_t>(), 'x')}});
  };
  const auto work = [](const CallPtr& call) {
    const auto end = cpu_us() + call->parameters().at("us").get<std::uint64_t>();
    while (cpu_us() < end) {
    }
    call->reply({});
  };
  const auto added = service.add_interface(
      kTestInterface, {{"Echo", echo},
                       {"Later", keep},
                       {"Watch", keep},
                       {"Drop", [](auto&&) {}},
                       {"Throw", [](auto&&) { throw std::runtime_error{"no\nway"}; }},
                       {"Big", big},
                       {"Work", work}});
  if (!added || !service.listen(path, 0666)) std::abort();
  service.on_idle([this] { ++idle; });
  service.on_crowd_left([this] { ++crowds_left; });
}

std::string request(const std::string& name, const std::string& parameters,
                    const std::string& rest) {
  return R"({"method":"org.example.Test.)" + name + R"(","parameters":)" + parameters + rest + "}";
}

}  // namespace pvrdma::test
