// SPDX-License-Identifier: GPL-2.0-or-later
// The helper program pvrdma-verify, which measures: what it is to measure with, and its runs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "agent/base/handle.hpp"
#include "agent/tools/verify/commands.hpp"
#include "agent/tools/verify/devices.hpp"

namespace pvrdma::ctl {

class Helper {
 public:
  // The first device with a GID, of those that are meant. An Error where there is none, where a job
  // holds it, or somebody unknown may, or where the token's file is not as it should be.
  [[nodiscard]] static Result<Helper> prepare(const VerifyOptions& options);

  [[nodiscard]] const std::string& device() const { return target_.device; }
  // The GID's. Empty: that is link-local IPv6, of which one has to say on which link.
  [[nodiscard]] std::string own_address() const;
  // Empty: none is shared.
  [[nodiscard]] const std::string& token() const { return token_; }

  // The program's answer: the figures, or "failed". It waits as long for the other side. An Error
  // where it could not answer.
  [[nodiscard]] Result<nlohmann::json> listen(Milliseconds wait) const;
  [[nodiscard]] Result<nlohmann::json> connect(const std::string& peer, Milliseconds wait) const;
  // What one run takes at most.
  [[nodiscard]] Milliseconds limit(Milliseconds wait) const;

 private:
  Helper() = default;
  [[nodiscard]] Result<nlohmann::json> run(const char* side, const std::string& address,
                                           Milliseconds wait) const;

  VerifyOptions options_;
  selftest::Target target_;
  Gid gid_;
  std::string token_;
  Fd token_file_;  // or of /dev/null
};

}  // namespace pvrdma::ctl
