#include "agent/ctl/socket_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

namespace pvrdma::ctl {

namespace {

constexpr Milliseconds kWithoutInotify{200};
// A directory made between two inotify_add_watch calls of arm() goes unnoticed: look again then.
constexpr Milliseconds kLookAgain{1000};

}  // namespace

void SocketWatch::arm() {
  inotify_ = Fd{inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  if (!inotify_) return;
  // IN_ATTRIB comes last: a service binds, sets the mode, and then listens.
  constexpr std::uint32_t kEvents =
      IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
  for (auto directory = std::filesystem::path{path_}.parent_path(); !directory.empty();
       directory = directory.parent_path()) {
    if (inotify_add_watch(inotify_.get(), directory.c_str(), kEvents) >= 0) return;
    if (directory == directory.root_path()) break;
  }
  inotify_ = Fd{};
}

void SocketWatch::wait(Milliseconds timeout) {
  const Milliseconds limit = std::min(timeout, inotify_ ? kLookAgain : kWithoutInotify);
  if (limit <= Milliseconds{0}) return;
  pollfd event{inotify_.get(), POLLIN, 0};
  // A signal ends the wait early; the caller looks at its own clock.
  static_cast<void>(poll(&event, 1, static_cast<int>(limit.count())));
  // Only that something happened counts. Read it off, or the next wait would not wait.
  std::array<char, 4096> events{};
  while (inotify_ && ::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
}

}  // namespace pvrdma::ctl
