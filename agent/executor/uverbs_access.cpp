// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/uverbs_access.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "agent/base/file.hpp"
#include "agent/base/text.hpp"
#include "probes/pci.hpp"
#include "probes/rdma.hpp"

namespace pvrdma::executor {

namespace {

constexpr mode_t kPermissions = 07777;

Result<mode_t> mode_of(const std::filesystem::path& node) {
  struct stat status {};
  if (::lstat(node.c_str(), &status) != 0) return fail(errno, "looking at", node);
  if (S_ISLNK(status.st_mode)) return fail(ELOOP, "looking at", node);
  return status.st_mode & kPermissions;
}

Result<void> set_mode(const std::filesystem::path& node, mode_t mode) {
  if (::chmod(node.c_str(), mode) != 0) return fail(errno, "setting the mode of", node);
  return {};
}

}  // namespace

UverbsAccess::UverbsAccess(std::filesystem::path node, std::filesystem::path memo, mode_t mode)
    : node_(std::move(node)), memo_(std::move(memo)), mode_(mode) {}

UverbsAccess::UverbsAccess(UverbsAccess&& other) noexcept
    : node_(std::move(other.node_)),
      memo_(std::move(other.memo_)),
      mode_(other.mode_),
      closed_(std::exchange(other.closed_, false)) {}

UverbsAccess::~UverbsAccess() { static_cast<void>(open()); }

Result<UverbsAccess> UverbsAccess::close(const std::filesystem::path& node,
                                         const std::filesystem::path& memo) {
  const auto mode = mode_of(node);
  if (!mode) return fail(mode.error());
  // "438 /dev/infiniband/uverbs0": the mode as a decimal number, then the node.
  if (auto noted = replace_file(memo, std::to_string(*mode) + " " + node.string(), 0600); !noted)
    return fail(std::move(noted.error()));
  if (auto set = set_mode(node, 0); !set) {
    ::unlink(memo.c_str());
    return fail(std::move(set.error()));
  }
  return UverbsAccess{node, memo, *mode};
}

Result<void> UverbsAccess::open() {
  if (!closed_) return {};
  auto set = set_mode(node_, mode_);
  // After a failure the memo stays, so that the next executor tries again.
  if (set || means_absent(set.error())) gone();
  return set;
}

void UverbsAccess::gone() noexcept {
  if (std::exchange(closed_, false)) ::unlink(memo_.c_str());
}

Result<std::optional<UverbsAccess>> close_verbs_node(const Root& root, const std::string& function,
                                                     const std::filesystem::path& memo) {
  const auto node = probes::verbs_node(probes::function_path(root, function));
  if (node.is_unreadable()) return fail(*node.error());
  if (!node.is_known()) return std::nullopt;
  auto closed = UverbsAccess::close(root / "/dev/infiniband" / *node.get(), memo);
  if (!closed) return fail(std::move(closed.error()));
  return std::move(*closed);
}

Result<bool> reopen_access_left_closed(const std::filesystem::path& memo) {
  const auto text = read_file(memo);
  if (!text && text.error().code == ENOENT) return false;
  if (!text) return fail(text.error());
  std::string_view node_name = *text;
  const auto mode = number_from<unsigned>(cut(node_name, ' '));
  if (!mode || node_name.empty() || *mode > kPermissions) return fail(EBADMSG, "reading", memo);
  const std::filesystem::path node = node_name;
  const auto now = mode_of(node);
  // Otherwise the node is gone or was created anew, and we did not set its mode.
  const bool closed = now && *now == 0;
  if (closed) {
    if (auto set = set_mode(node, *mode); !set) return fail(std::move(set.error()));
  }
  ::unlink(memo.c_str());
  return closed;
}

}  // namespace pvrdma::executor
