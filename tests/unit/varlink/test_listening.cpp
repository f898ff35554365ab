// SPDX-License-Identifier: GPL-2.0-or-later
// The socket file: its mode, stale files, and sockets bound by another process.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <thread>
#include <vector>

#include "agent/varlink/client.hpp"
#include "agent/varlink/listening.hpp"
#include "agent/varlink/service.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/service_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using varlink::listening_socket;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

}  // namespace

TEST_CASE("the file has the mode asked for, whatever the umask") {
  const TemporaryDirectory directory;
  for (const mode_t mask : {0U, 022U, 077U})
    for (const unsigned mode : {0600U, 0660U, 0666U}) {
      const std::string path = directory / "socket";
      const mode_t before = ::umask(mask);
      const auto socket = listening_socket(path, mode);
      ::umask(before);
      REQUIRE(socket);
      CHECK(mode_of(path) == mode);
    }
}

TEST_CASE("a stale file is replaced, a living service and other files are not") {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  REQUIRE(listening_socket(path, 0600));  // and closed again, so its file is stale
  auto alive = listening_socket(path, 0600);
  REQUIRE(alive);
  CHECK(listening_socket(path, 0600).error().code == EADDRINUSE);
  const std::string file = directory / "file";
  CHECK(::close(::creat(file.c_str(), 0600)) == 0);
  CHECK(listening_socket(file, 0600).error().code == EEXIST);
  CHECK(listening_socket(directory / "none/socket", 0600).error().code == ENOENT);
  CHECK(listening_socket("/" + std::string(200, 'x'), 0600).error().code == ENAMETOOLONG);
}

TEST_CASE("the file of a process that has ended, but whose socket is still open, is replaced") {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  // The child shares our descriptors, like a thread that hangs in the kernel.
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    auto socket = listening_socket(path, 0600);
    ::_exit(socket && socket->release() >= 0 ? 0 : 1);
  }
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  REQUIRE(ended.si_status == 0);
  CHECK(listening_socket(path, 0600));
  REQUIRE(::waitpid(child, nullptr, 0) == child);
}

TEST_CASE("an inherited socket") {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  Loop loop;
  varlink::Service service{loop.get(), "p"};
  SECTION("that listens, blocking as systemd makes it") {
    Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(socket.get(), 5) == 0);
    REQUIRE(service.listen_on(std::move(socket)));
    RawClient client{loop, path};
    CHECK(client.ask(R"({"method":"org.varlink.service.GetInfo"})"));
  }
  SECTION("that does not") {
    CHECK(service.listen_on(Fd{::socket(AF_UNIX, SOCK_STREAM, 0)}).error().code == EINVAL);
    CHECK(service.listen_on(Fd{}).error().code == EBADF);
  }
}

TEST_CASE("a flood of connections puts few of them before another client, who waits for a place") {
  const TemporaryDirectory directory;
  const std::string path = directory / "socket";
  const auto listening = listening_socket(path, 0666);
  REQUIRE(listening);
  std::vector<varlink::Client> flood;
  auto next = varlink::Client::connect(path, Milliseconds{1});
  for (; next && flood.size() < 500; next = varlink::Client::connect(path, Milliseconds{1}))
    flood.push_back(std::move(*next));
  CHECK(flood.size() < 300);
  std::thread accepts([&] { const Fd accepted{::accept(listening->get(), nullptr, nullptr)}; });
  CHECK(varlink::Client::connect(path, std::chrono::seconds{10}));
  accepts.join();
}
