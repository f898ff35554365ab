// SPDX-License-Identifier: GPL-2.0-or-later
// What a program gives up before it reads what may be anybody's, with a library that was not made
// for that: a fault there then reaches nothing but what was read and the answer.
#pragma once

#include <sys/types.h>

#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::probes {

// This process keeps what it has open, and can from now on open no file, write none, start no other
// process and gain no rights (setrlimit(2), prctl(2), PR_SET_NO_NEW_PRIVS). Root becomes the user
// nobody, for good. errno of the step that failed; the ones before it stay taken.
[[nodiscard]] Result<void> give_up_rights();

// Root becomes this user, for good and without root's groups. errno of the step that failed.
[[nodiscard]] Result<void> become_user(uid_t user, gid_t group, const std::string& name);

}  // namespace pvrdma::probes
