// SPDX-License-Identifier: GPL-2.0-or-later
// A small service with one method for each kind of handler.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/varlink/loop_fixture.hpp"

namespace pvrdma::test {

inline constexpr const char* kTestInterface = R"(
interface org.example.Test
type Point (x: int, y: int)
method Echo(text: string, count: ?int, points: ?[]Point) -> (text: string)
method Later() -> ()
method Watch() -> (n: int)
method Drop() -> ()
method Throw() -> ()
method Big(bytes: int) -> (filler: string)
method Work(us: int) -> ()
error Odd (why: string)
)";

struct ServiceFixture {
  explicit ServiceFixture(const varlink::Limits& limits = {});
  [[nodiscard]] RawClient client() const { return {loop, path}; }

  TemporaryDirectory directory;
  std::string path = directory / "socket";
  Loop loop;
  std::vector<varlink::CallPtr> kept;  // calls of Later and Watch
  std::vector<std::string> echoed;     // the texts of Echo, in the order of arrival
  int idle = 0, crowds_left = 0;
  varlink::Service service;
};

// {"method": "org.example.Test.NAME", "parameters": PARAMETERS, …}
std::string request(const std::string& name, const std::string& parameters = "{}",
                    const std::string& rest = "");

// A call that is answered at once, and its answer.
inline const std::string kHello = request("Echo", R"({"text":"a"})");
inline constexpr const char* kHelloReply = R"({"parameters":{"text":"a"}})";

}  // namespace pvrdma::test
