// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/rights.hpp"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace pvrdma::probes {

namespace {

constexpr uid_t kNobody = 65534;  // user and group (systemd, docs/UIDS-GIDS.md)

}  // namespace

Result<void> become_user(uid_t user, gid_t group, const std::string& name) {
  if (::setgroups(0, nullptr) != 0) return fail(errno, "leaving", "root's groups");
  if (::setresgid(group, group, group) != 0) return fail(errno, "taking", "the group of " + name);
  if (::setresuid(user, user, user) != 0) return fail(errno, "becoming", "the user " + name);
  return {};
}

Result<void> give_up_rights() {
  if (::geteuid() == 0)
    if (auto became = become_user(kNobody, kNobody, "nobody"); !became) return became;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(errno, "giving up", "rights of programs to come");
  constexpr rlimit kNone{0, 0};
  for (const auto resource : {RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE})
    if (::setrlimit(resource, &kNone) != 0)
      return fail(errno, "limiting", "files and processes to those that there are");
  return {};
}

}  // namespace pvrdma::probes
