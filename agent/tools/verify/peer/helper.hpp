// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the helper program pvrdma-verify, which measures, and chooses the device for it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agent/base/handle.hpp"
#include "agent/tools/verify/commands.hpp"
#include "agent/tools/verify/devices.hpp"

namespace pvrdma::ctl {

class Helper {
 public:
  // Chooses the first of the wanted devices that has a GID of an address that is not link-local,
  // else the first that has a GID. An Error: there is none, a process holds it or may hold it, or
  // the token's file is missing, empty or open to others, or its token is of no use here.
  [[nodiscard]] static Result<Helper> prepare(const VerifyOptions& options);

  [[nodiscard]] const std::string& device() const { return target_.device; }
  // The address of the GID. Empty: the GID is link-local IPv6, and an address then needs its link's
  // name.
  [[nodiscard]] std::string own_address() const;
  // Of the netdev of the GID; empty: not known.
  [[nodiscard]] const std::string& mac() const { return mac_; }
  // Empty: no token is shared.
  [[nodiscard]] const std::string& token() const { return token_; }

  // Returns the program's answer: the figures, or "failed". `wait`: how long to wait for the other
  // side. An Error: the program gave no answer. `of_client`: the longest duration of a client that
  // is served; one beyond this side's own counts only once a client has told it.
  [[nodiscard]] Result<nlohmann::json> listen(Milliseconds wait,
                                              Milliseconds of_client = Milliseconds{0}) const;
  [[nodiscard]] Result<nlohmann::json> connect(const std::string& peer, Milliseconds wait) const;
  // The longest time of one run.
  [[nodiscard]] Milliseconds limit(Milliseconds wait,
                                   Milliseconds of_client = Milliseconds{0}) const;

 private:
  Helper() = default;
  [[nodiscard]] Result<nlohmann::json> run(const char* side, const std::string& address,
                                           Milliseconds wait, Milliseconds of_client) const;

  VerifyOptions options_;
  verify::Target target_;
  Gid gid_;
  std::string mac_;
  std::string token_;
  Fd token_file_;  // the token's file, or /dev/null
};

}  // namespace pvrdma::ctl
