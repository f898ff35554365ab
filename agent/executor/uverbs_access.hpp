// SPDX-License-Identifier: GPL-2.0-or-later
// UverbsAccess: a function's verbs node (/dev/infiniband/uverbsN), closed to new users while an
// unbind is decided on and begun.
//
// vmw_pvrdma has no disassociate_ucontext: an unbind waits in the kernel, uninterruptibly, for
// whoever opened the device between the last look and the unbind. Mode 0 keeps new users out, but
// not those with CAP_DAC_OVERRIDE: for them only the looks before and after count.
// A memo under /run says how to open it again, should the executor end before it did.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "agent/base/error.hpp"

namespace pvrdma::executor {

class UverbsAccess {
 public:
  // Errors: the memo could not be written, or the mode not changed; the node is open then.
  [[nodiscard]] static Result<UverbsAccess> close(const std::filesystem::path& node,
                                                  const std::filesystem::path& memo);
  UverbsAccess(UverbsAccess&& other) noexcept;
  UverbsAccess(const UverbsAccess&) = delete;
  UverbsAccess& operator=(const UverbsAccess&) = delete;
  UverbsAccess& operator=(UverbsAccess&&) = delete;
  // Opens it, unless that was done or the node has gone.
  ~UverbsAccess();

  [[nodiscard]] Result<void> open();
  // The device was unbound and its node went with it; the next one has a mode of its own.
  void gone() noexcept;

 private:
  UverbsAccess(std::filesystem::path node, std::filesystem::path memo, mode_t mode);

  std::filesystem::path node_;
  std::filesystem::path memo_;
  mode_t mode_ = 0;  // permission bits before
  bool closed_ = true;
};

// Opens the node that an executor left closed when it died; true where there was one.
[[nodiscard]] Result<bool> reopen_access_left_closed(const std::filesystem::path& memo);

}  // namespace pvrdma::executor
