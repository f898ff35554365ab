// SPDX-License-Identifier: GPL-2.0-or-later
// UverbsAccess: closes a function's verbs node (/dev/infiniband/uverbsN) to new users for a moment:
// from the last look before an unbind until the unbind, and while an address is removed or the MTU
// of a link that is up is set.
//
// vmw_pvrdma has no disassociate_ucontext: an unbind waits in the kernel, uninterruptibly, for
// processes that opened the device between the last look and the unbind. Mode 0 keeps out new
// users, except those with CAP_DAC_OVERRIDE, for whom only the look protects. A memo under /run
// says how to open the node again, in case the executor dies before that.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "agent/base/error.hpp"
#include "agent/base/rooted_path.hpp"

namespace pvrdma::executor {

class UverbsAccess {
 public:
  // Errors: the memo could not be written, or the mode not changed; then the node stays open.
  [[nodiscard]] static Result<UverbsAccess> close(const std::filesystem::path& node,
                                                  const std::filesystem::path& memo);
  UverbsAccess(UverbsAccess&& other) noexcept;
  UverbsAccess(const UverbsAccess&) = delete;
  UverbsAccess& operator=(const UverbsAccess&) = delete;
  UverbsAccess& operator=(UverbsAccess&&) = delete;
  // Opens the node, unless it was opened or has gone.
  ~UverbsAccess();

  [[nodiscard]] Result<void> open();
  // Call this after the unbind: the node has gone, and the next one will have its own mode.
  void gone() noexcept;

 private:
  UverbsAccess(std::filesystem::path node, std::filesystem::path memo, mode_t mode);

  std::filesystem::path node_;
  std::filesystem::path memo_;
  mode_t mode_ = 0;  // the permission bits before close()
  bool closed_ = true;
};

// Closes the function's node; none: the function has no node. Errors: those of close(), and those
// of looking for the node.
[[nodiscard]] Result<std::optional<UverbsAccess>> close_verbs_node(
    const Root& root, const std::string& function, const std::filesystem::path& memo);

// Opens a node that a dead executor left closed; true where there was one.
[[nodiscard]] Result<bool> reopen_access_left_closed(const std::filesystem::path& memo);

}  // namespace pvrdma::executor
