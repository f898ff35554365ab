// Keeping this boot's timeline with those of the boots before it: the work of
// pvrdma-agent-boots.service, which runs when the agent has set its mark (boot_notes.hpp).
#pragma once

#include <filesystem>
#include <string>

#include "agent/base/error.hpp"

namespace pvrdma {

// Writes what `this_boot` holds before those of `kept`. Of another `machine` (a template that was
// cloned), or if it is no such file, what was kept is left out: the answer says why, in a line;
// empty: it is all there. A boot of which nothing is noted changes nothing.
[[nodiscard]] Result<std::string> keep_boot(const std::filesystem::path& this_boot,
                                            const std::filesystem::path& kept,
                                            const std::string& machine);

// The same with the real places, and what there is to say in the journal.
void keep_this_boot();

}  // namespace pvrdma
