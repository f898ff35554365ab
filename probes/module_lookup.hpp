// SPDX-License-Identifier: GPL-2.0-or-later
// Asks libkmod without loading it into this process: libkmod needs libcrypto, which would stay in
// the daemon's memory and doubles the start time of the client. So the program module-lookup asks
// libkmod; the functions here run it and read its lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/modules.hpp"

namespace pvrdma::probes {

// Opens /lib/modules/RELEASE for libkmod. A missing or unreadable index is an Error, as libkmod
// would find nothing, which would mean "missing". EINVAL: an index file of an image is a device, a
// pipe, or a link, which libkmod would follow to files of this machine; depmod makes none of these.
[[nodiscard]] Result<Fd> open_modules_of(const Root& root, const std::string& release);

[[nodiscard]] std::vector<IndexEntry> all_unreadable(const std::vector<std::string>& names,
                                                     const Error& why);

// The first argument of the program tells what to look up:
// - "shipped RELEASE NAME...": the entry of each module in that kernel's index. With kFolderIsInput
//   instead of RELEASE, standard input is the kernel's folder, and the program gives up its rights
//   before it reads the index.
inline constexpr const char* kLookUpShipped = "shipped";
inline constexpr const char* kFolderIsInput = "-";
// - "signer NAME": the signer of a module of the kernel whose folder is standard input; no output
//   means no signature.
inline constexpr const char* kLookUpSigner = "signer";
// - "config": the parsed lines of an image's modprobe.d, whose text is standard input
//   (modprobe_config.hpp); the program gives up its rights before it reads the text.
inline constexpr const char* kLookUpConfig = "config";

// The program reads some files; this limits the wait for a disk that does not answer.
inline constexpr Milliseconds kModuleLookupTimeout = std::chrono::seconds{5};

// The output of the program with the arguments `words`. `input`: its standard input, not owned; -1:
// none. Errors: those of run_program() and output_of().
[[nodiscard]] Result<std::string> run_module_lookup(const std::string& program,
                                                    std::vector<std::string> words, int input,
                                                    Milliseconds timeout = kModuleLookupTimeout);

// The program's line about a module: "loadable" with the names of the modules that it needs,
// "built-in", "missing", or "error CODE" with the number of errno.
[[nodiscard]] std::string lookup_line(const IndexEntry& entry);
// Reads such lines, one for each name, in their order. EBADMSG: the number or form of the lines is
// wrong.
[[nodiscard]] Result<std::vector<IndexEntry>> parse_lookup(std::string_view lines,
                                                           const std::vector<std::string>& names);

// The entry of each module in the index of kernel `release`. An image's index may be hostile, so
// for it the program gives up its rights. All unreadable, with the reason, where this fails.
[[nodiscard]] std::vector<IndexEntry> look_up_shipped(const std::string& program, const Root& root,
                                                      const std::string& release,
                                                      const std::vector<std::string>& names,
                                                      Milliseconds timeout = kModuleLookupTimeout);

// The signer of a module of that kernel, as modinfo(8) shows it. Absent: there is no signature, no
// such module or no such kernel. Unreadable for an image, whose index and modules may be hostile.
[[nodiscard]] Field<std::string> look_up_signer(const std::string& program, const Root& root,
                                                const std::string& release,
                                                const std::string& module);

}  // namespace pvrdma::probes
