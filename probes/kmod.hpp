// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of libkmod for the program module-lookup (module_lookup.hpp). The executor, which uses
// libkmod itself, takes only route_log().
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"

struct kmod_ctx;

namespace pvrdma::probes {

// Sends libkmod's messages to our log at level debug, if that level is logged, and never to stderr.
// Return values tell everything that matters.
void route_log(kmod_ctx* context);

// The entry of each module in the index below /lib/modules/RELEASE, in the order of `names`. All
// unreadable where the index is missing or may not be read.
[[nodiscard]] std::vector<IndexEntry> find_shipped(const Root& root, const std::string& release,
                                                   const std::vector<std::string>& names);

// The same for the open folder of a kernel that need not be trusted (open_modules_of(),
// module_lookup.hpp): libkmod 30 follows the offsets in an index without checking them. So this
// process maps the files, gives up its rights for good (give_up_rights()), and only then reads
// them.
[[nodiscard]] std::vector<IndexEntry> find_shipped_without_rights(
    int folder, const std::vector<std::string>& names);

// The signer of a module of the kernel whose folder is open, and a newline; empty: no signature, or
// no such module.
[[nodiscard]] Result<std::string> module_signer(int folder, const std::string& name);

}  // namespace pvrdma::probes
