// SPDX-License-Identifier: GPL-2.0-or-later
// What libkmod knows, without libkmod in this process: it brings libcrypto along, which would stay
// in the daemon's memory, and which makes each start of the client take twice as long. The program
// module-lookup asks it, this side runs that and reads its lines.
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

// /lib/modules/RELEASE, for libkmod. An index that is not there or may not be read is an error:
// libkmod would find nothing, which reads as "missing". EINVAL: an index of an image is a link,
// which libkmod would follow to this machine's files, a device or a pipe; depmod makes none.
[[nodiscard]] Result<Fd> open_modules_of(const Root& root, const std::string& release);

[[nodiscard]] std::vector<IndexEntry> all_unreadable(const std::vector<std::string>& names,
                                                     const Error& why);

// What the program is asked for by its first word:
// - "shipped RELEASE NAME...": what that kernel's index has of each module. In place of RELEASE
//   kFolderIsInput: the kernel's folder is the input, and the program has no rights when it looks.
inline constexpr const char* kLookUpShipped = "shipped";
inline constexpr const char* kFolderIsInput = "-";
// - "signer NAME": who signed a module of the kernel whose folder is the input; nothing: nobody.
inline constexpr const char* kLookUpSigner = "signer";
// - "config": the lines of the text of an image's modprobe.d, which is the input
//   (modprobe_config.hpp); the program has no rights when it reads it.
inline constexpr const char* kLookUpConfig = "config";

// It reads some files; a disk that does not answer is not waited for any longer.
inline constexpr Milliseconds kModuleLookupTimeout = std::chrono::seconds{5};

// What the program writes, asked by `words`. `input`: open for it, not owned; -1: nothing.
// EREMOTEIO: it failed; ETIMEDOUT.
[[nodiscard]] Result<std::string> run_module_lookup(const std::string& program,
                                                    std::vector<std::string> words, int input,
                                                    Milliseconds timeout = kModuleLookupTimeout);

// What it writes of modules: a line for each name, in their order; "loadable" with the names that
// it needs, "built-in", "missing", or "error CODE" with errno's number.
[[nodiscard]] std::string lookup_line(const IndexEntry& entry);
// EBADMSG: not that many such lines.
[[nodiscard]] Result<std::vector<IndexEntry>> parse_lookup(std::string_view lines,
                                                           const std::vector<std::string>& names);

// What the index of kernel `release` has of each module. An image's index may be hostile: the
// program has no rights then. All unreadable, with the reason, where that does not work.
[[nodiscard]] std::vector<IndexEntry> look_up_shipped(const std::string& program, const Root& root,
                                                      const std::string& release,
                                                      const std::vector<std::string>& names,
                                                      Milliseconds timeout = kModuleLookupTimeout);

// Who signed a module of that kernel, as modinfo(8) has it. Absent: it has no signature, or there
// is no such module or kernel.
[[nodiscard]] Field<std::string> look_up_signer(const std::string& program, const Root& root,
                                                const std::string& release,
                                                const std::string& module);

}  // namespace pvrdma::probes
