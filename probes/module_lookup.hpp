// Whether modules are shipped, without libkmod in this process: the program module-lookup asks,
// this side runs it and reads its lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// /lib/modules/RELEASE, for libkmod. An index that is not there or may not be read is an error:
// libkmod would find nothing, which reads as "missing". EINVAL: an index of an image is a link,
// which libkmod would follow to this machine's files, a device or a pipe; depmod makes none.
[[nodiscard]] Result<Fd> open_modules_of(const Root& root, const std::string& release);

[[nodiscard]] std::vector<Field<Shipped>> all_unreadable(const std::vector<std::string>& names,
                                                         const Error& why);

// In place of RELEASE: the folder of the kernel's modules is the program's input, and it has no
// rights when it looks into the index.
inline constexpr const char* kFolderIsInput = "-";

// What the program writes: a line for each name, in their order; "loadable", "built-in", "missing",
// or "error CODE" with errno's number.
[[nodiscard]] std::string lookup_line(const Field<Shipped>& shipped);
// EBADMSG: not that many such lines.
[[nodiscard]] Result<std::vector<Field<Shipped>>> parse_lookup(
    std::string_view lines, const std::vector<std::string>& names);

// It reads two files; a disk that does not answer is not waited for any longer.
inline constexpr Milliseconds kModuleLookupTimeout = std::chrono::seconds{5};

// Runs `program RELEASE NAME...`. All unreadable, with the reason, where that does not work.
[[nodiscard]] std::vector<Field<Shipped>> run_module_lookup(
    const std::string& program, const std::string& release, const std::vector<std::string>& names,
    Milliseconds timeout = kModuleLookupTimeout);

// The same of a kernel that may be anybody's, as an image's: the program has no rights then.
[[nodiscard]] std::vector<Field<Shipped>> run_module_lookup_without_rights(
    const std::string& program, const Root& root, const std::string& release,
    const std::vector<std::string>& names, Milliseconds timeout = kModuleLookupTimeout);

}  // namespace pvrdma::probes
