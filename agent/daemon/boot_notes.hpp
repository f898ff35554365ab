// BootNotes: what is written down of this boot, and what is known of those before it.
//
// This boot's timeline lies under /run from its first step on, so that an agent that is started
// again goes on with it. Those of earlier boots lie under /var/lib, which this early there may be
// no writing to, and not even reading: the root may still be read-only, /var not mounted. So they
// are kept by a service of its own (pvrdma-agent-boots.service), which a path unit starts when a
// mark is set here, and are read once they are there. A VM without an adapter has none of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"
#include "agent/varlink/boots_file.hpp"

namespace pvrdma {

class BootNotes {
 public:
  struct Places {
    std::filesystem::path this_boot = varlink::kThisBootPath;
    // Watched by pvrdma-agent-boots.path; it says how much of this boot is kept.
    std::filesystem::path mark = "/run/pvrdma-agent/keep-boot.json";
    std::filesystem::path earlier = varlink::kBootsPath;
  };

  BootNotes() : BootNotes(Places{}) {}
  explicit BootNotes(Places places) : places_(std::move(places)) {}

  // As an agent before this one has left it in this boot, or a new one.
  [[nodiscard]] Timeline resume(const std::string& boot_id, BootTime started);

  // Writes down what is new, and has it kept: once the state is a verdict, when ready is reached,
  // and later at most once in a minute.
  [[nodiscard]] Result<void> note(const Timeline& boot, State state, BootTime now);

  // The boots before `boot`, where the file has changed since it was read, until it holds that as
  // well. What is no such file, or another machine's, is as good as none: who keeps them tells.
  [[nodiscard]] std::optional<std::vector<Timeline>> news_of_earlier(const Timeline& boot);

 private:
  [[nodiscard]] bool is_to_be_kept(const Timeline& boot, State state, BootTime now) const;

  Places places_;
  std::vector<Step> written_;     // of this boot
  std::optional<Timeline> kept_;  // this boot, when the mark was set
  BootTime kept_at_{};
  bool earlier_is_final_ = false;
  std::optional<std::filesystem::file_time_type> earlier_time_;
};

}  // namespace pvrdma
