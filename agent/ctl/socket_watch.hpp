// Waiting for a socket file to appear, by inotify(7) on its directory or, while that is missing, on
// the nearest one above it.
#pragma once

#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::ctl {

class SocketWatch {
 public:
  explicit SocketWatch(std::string path) : path_(std::move(path)) {}

  // Starts (or starts anew) to listen. Call it before trying to connect, so that what happens
  // between the try and the wait is not missed.
  void arm();
  // Returns when something happened there, or after `timeout`. Where inotify is out of order (no
  // watches left), it returns after 200 ms at most.
  void wait(Milliseconds timeout);

 private:
  std::string path_;
  Fd inotify_;
};

}  // namespace pvrdma::ctl
