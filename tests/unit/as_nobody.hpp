// SPDX-License-Identifier: GPL-2.0-or-later
// A test's thread under another user than root.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace pvrdma::test {

// Makes only this thread run as another user than root, without root's rights but with root's
// groups, while the object lives (glibc's seteuid would change every thread).
class AsNobody {
 public:
  static constexpr uid_t kUid = 65534;
  explicit AsNobody(uid_t uid = kUid) {
    if (::geteuid() == 0) ::syscall(SYS_setresuid, -1, uid, -1);
  }
  ~AsNobody() {
    if (::getuid() == 0) ::syscall(SYS_setresuid, -1, 0, -1);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
};

}  // namespace pvrdma::test
