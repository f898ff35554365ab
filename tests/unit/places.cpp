// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/places.hpp"

namespace places {

const char* const fixtures = FIXTURES;
const char* const example = EXAMPLE;
const char* const modprobe_conf = MODPROBE_CONF;
const char* const agentctl = AGENTCTL;
const char* const selftest = SELFTEST;
const char* const initramfs_content = INITRAMFS_CONTENT;
const char* const module_lookup = MODULE_LOOKUP;

}  // namespace places
