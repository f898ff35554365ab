// SPDX-License-Identifier: GPL-2.0-or-later
// The paths of the tests' files and of the programs they run. Compiled apart: everything else is
// the same in every clone, so a compiler cache has it.
#pragma once

namespace places {

extern const char* const fixtures;  // tests/fixtures
extern const char* const example;   // the package's example of a configuration
extern const char* const modprobe_conf;
extern const char* const agentctl;
extern const char* const selftest;
extern const char* const initramfs_content;
extern const char* const module_lookup;

}  // namespace places
