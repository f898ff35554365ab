// Whether modules are shipped, without libkmod in this process: the program module-lookup asks,
// this side runs it and reads its lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

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

}  // namespace pvrdma::probes
