// SPDX-License-Identifier: GPL-2.0-or-later
// A varlink service in a thread in place of the agent, a server that behaves badly, and a console
// that remembers its output.
#pragma once

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "agent/base/handle.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/varlink/service.hpp"

namespace fake {

using pvrdma::varlink::Json;

// An empty directory, removed with its contents.
class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

// Methods without a handler answer io.pvrdma.Agent.Failed. The destructor stops it.
class Agent {
 public:
  using Handlers = std::map<std::string, pvrdma::varlink::Handler>;
  Agent(const std::string& socket, const Handlers& handlers);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

 private:
  pvrdma::Fd stop_;  // eventfd
  std::thread thread_;
};

// A handler with one reply.
[[nodiscard]] pvrdma::varlink::Handler answers(Json parameters);
[[nodiscard]] pvrdma::varlink::Handler refuses(std::string error, Json parameters);
// A handler for WatchHealth: sends each health in turn, and the stream stays open.
[[nodiscard]] pvrdma::varlink::Handler streams(std::vector<Json> healths);

// Accepts connections and calls `behave` for each. `behave` gets the connection and an fd that
// turns readable when it has to end.
class BadServer {
 public:
  using Behaviour = std::function<void(int connection, int stop)>;
  BadServer(const std::string& socket, Behaviour behave);
  ~BadServer();
  BadServer(const BadServer&) = delete;
  BadServer& operator=(const BadServer&) = delete;
  [[nodiscard]] int connections() const { return connections_; }

 private:
  std::atomic<int> connections_{0};
  pvrdma::Fd stop_;
  std::thread thread_;
};

// Reads the request, sends `bytes`, and hangs up.
[[nodiscard]] BadServer::Behaviour says(std::string bytes);
// Reads nothing, sends nothing, and does not hang up.
[[nodiscard]] BadServer::Behaviour stays_silent();

class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  pvrdma::ctl::Console console;
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;

 private:
  char* out_ = nullptr;
  std::size_t out_size_ = 0;
  char* err_ = nullptr;
  std::size_t err_size_ = 0;
};

// The exit code and output of a command.
struct Printed {
  int code = 0;
  std::string out, err;
};

// Settings for a fake at this socket.
[[nodiscard]] pvrdma::ctl::Settings settings(const std::string& socket);

}  // namespace fake
