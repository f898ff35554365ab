// SPDX-License-Identifier: GPL-2.0-or-later
// What is asked of libkmod itself, for the program module-lookup, which all others run
// (module_lookup.hpp); and where libkmod's own log goes.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"

struct kmod_ctx;

namespace pvrdma::probes {

// What libkmod says by itself goes into our log at level debug, all of it where that is wanted, and
// never to stderr: what matters comes back as a return value too.
void take_over_log(kmod_ctx* context);

// What the index below /lib/modules/RELEASE has of each module, in the order of `names`. All
// unreadable where the index is not there or may not be read.
[[nodiscard]] std::vector<IndexEntry> find_shipped(const Root& root, const std::string& release,
                                                   const std::vector<std::string>& names);

// The same of the open folder of a kernel that may be anybody's (open_modules_of(),
// module_lookup.hpp): libkmod 30 follows the offsets in an index without a look at them. This
// process maps the files, gives up its rights for good (rights.hpp), and looks into them only then.
[[nodiscard]] std::vector<IndexEntry> find_shipped_without_rights(
    int folder, const std::vector<std::string>& names);

// Who signed a module of the kernel whose folder is open, and a newline; empty: nobody, or there is
// no such module.
[[nodiscard]] Result<std::string> module_signer(int folder, const std::string& name);

}  // namespace pvrdma::probes
