// SPDX-License-Identifier: GPL-2.0-or-later
// Rights that a program gives up before it reads untrusted data with a library that was not made
// for such data. An attack can then reach only that data and the answer.
#pragma once

#include <sys/types.h>

#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::probes {

// This process keeps its open files, but from now on can open no file, enlarge none, start no
// process and gain no rights (setrlimit(2), prctl(2), PR_SET_NO_NEW_PRIVS). Root becomes the user
// "nobody", for good. Error: the errno of the step that failed; the steps before it remain.
[[nodiscard]] Result<void> give_up_rights();

// Root becomes this user, for good and without root's groups. Error: the errno of the step that
// failed.
[[nodiscard]] Result<void> become_user(uid_t user, gid_t group, const std::string& name);

}  // namespace pvrdma::probes
