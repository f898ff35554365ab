// What units/read-guestinfo has fetched from vSphere for this VM.
#pragma once

#include <optional>
#include <string>

#include "agent/base/rooted_path.hpp"

namespace pvrdma {

// Its name in messages, and among the files that were read.
inline constexpr const char* kGuestinfo = "guestinfo.pvrdma-agent.config";

struct Guestinfo {
  std::optional<std::string> text;  // TOML; none: nothing is set for this VM, or see `error`
  std::string error;  // why it cannot be had, a whole line; empty: it could, or nothing was asked
};
[[nodiscard]] Guestinfo read_guestinfo(const Root& root);

// Guestinfo once counted unless a file said no. The package notes when it replaces such a version
// and vSphere has something for this VM. The note lies in /run, so it ends with the boot.
[[nodiscard]] bool guestinfo_used_before_upgrade(const Root& root);

}  // namespace pvrdma
