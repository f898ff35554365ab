// SPDX-License-Identifier: GPL-2.0-or-later
// Which user may call: the owner of a real socket. Files of other users than root belong to uid 1
// here, so this needs root.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "agent/base/handle.hpp"
#include "agent/executor/server.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::executor {

namespace {

constexpr const char* kPlace = "/run/executor/socket";

struct CallerFixture {
  test::Tree tree;
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};

  CallerFixture() {
    tree.directory("/run/executor");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = tree / kPlace;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::strcpy(address.sun_path, path.c_str());
    REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::chown(path.c_str(), 7, 7) == 0);
  }
  int code() const {
    const auto owner = socket_owner(tree.root() / kPlace);
    return owner ? 0 : owner.error().code;
  }
};

}  // namespace

TEST_CASE_METHOD(CallerFixture, "caller: the owner of a socket in root's folders") {
  CHECK(socket_owner(tree.root() / kPlace).value_or(0) == 7);
}

TEST_CASE_METHOD(CallerFixture,
                 "caller: a socket that another user could have made is not served") {
  SECTION("its folder is another user's") {
    REQUIRE(::chown((tree / "/run/executor").c_str(), 1, 0) == 0);
    CHECK(code() == EPERM);
  }
  SECTION("a folder above it is another user's") {
    REQUIRE(::chown((tree / "/run").c_str(), 1, 0) == 0);
    CHECK(code() == EPERM);
  }
  SECTION("all may write to its folder, as to /tmp") {
    REQUIRE(::chmod((tree / "/run/executor").c_str(), 01777) == 0);
    CHECK(code() == EPERM);
    // The socket's path goes through the real /tmp.
    CHECK_FALSE(socket_owner(socket.get()).has_value());
  }
  SECTION("a link is in its place") {
    tree.remove(kPlace);
    tree.link(kPlace, "/dev/log");
    CHECK(code() == ENOTSOCK);
  }
  SECTION("a link leads to its folder") {
    tree.directory("/run/elsewhere");
    tree.remove("/run/executor");
    tree.link("/run/executor", "elsewhere");
    CHECK(code() == ELOOP);
  }
}

TEST_CASE("caller: a socket without a path") {
  const Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto owner = socket_owner(socket.get());
  REQUIRE_FALSE(owner.has_value());
  CHECK(owner.error().code == EINVAL);
}

}  // namespace pvrdma::executor
