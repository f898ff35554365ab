// Handing the verdict to the host by open-vm-tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/health.hpp"
#include "agent/tools/export/formats.hpp"

namespace pvrdma::exports {

// The variable of the VM that has it. Any process of the guest may write it, so it proves nothing.
inline constexpr const char* kGuestinfoKey = "guestinfo.pvrdma-agent.health";

[[nodiscard]] Edition this_boot(std::uint64_t counter);

class Publisher {
 public:
  // `tool_within`: how long each of vmware-rpctool and vmtoolsd may take.
  Publisher(Milliseconds heartbeat, Milliseconds tool_within)
      : heartbeat_{heartbeat}, tool_within_{tool_within} {}

  // Unless the host has the same already and the heartbeat is not due. An Error says what each
  // program answered.
  [[nodiscard]] Result<void> publish(const Health& health);

 private:
  Milliseconds heartbeat_;
  Milliseconds tool_within_;
  std::uint64_t count_ = 0;
  std::string published_;  // without counter and time
  std::optional<BootTime> published_at_;
};

}  // namespace pvrdma::exports
