// Timelines of boots as JSON: the answer to GetBoots, and the same in files.
//
// This boot's lies under /run, written by the agent at each step. Those of the last boots lie under
// /var/lib, which is there later in a boot than the agent, and may not be there at all
// (agent/daemon/boot_keeper.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/model/timeline.hpp"
#include "agent/varlink/client.hpp"

namespace pvrdma::varlink {

inline constexpr const char* kThisBootPath = "/run/pvrdma-agent/boot.json";
inline constexpr const char* kBootsPath = "/var/lib/pvrdma-agent/boots/boots.json";
// This one, and ten before it.
inline constexpr std::size_t kBootsAtMost = 11;
inline constexpr std::size_t kBootsBytesAtMost = std::size_t{128} * 1024;

struct KeptBoots {
  // Whose they are: machine-id(5), hashed; empty: not known, or not kept across boots.
  std::string machine;
  std::vector<Timeline> boots;  // the newest first
  friend bool operator==(const KeptBoots&, const KeptBoots&) = default;
};

// `boots`: the newest first.
[[nodiscard]] Json to_json(const std::vector<Timeline>& boots);
// The interface's Boots; EBADMSG: it is none. Steps that are not known are left out.
[[nodiscard]] Result<std::vector<Timeline>> timelines_from(const Json& boots);

// Within both bounds: the oldest are left out.
[[nodiscard]] std::string to_text(KeptBoots kept);
// EBADMSG: not such a document.
[[nodiscard]] Result<KeptBoots> boots_from(const std::string& text);
// A file that is not there has no boots.
[[nodiscard]] Result<KeptBoots> read_boots(const std::filesystem::path& path);

// `newest` before those of `earlier` that are other boots.
[[nodiscard]] std::vector<Timeline> with_newest(Timeline newest, std::vector<Timeline> earlier);

}  // namespace pvrdma::varlink
