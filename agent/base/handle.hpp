// SPDX-License-Identifier: GPL-2.0-or-later
// Owners of C resources: file descriptors, and pointers with a free function.
//
// There is one owner type for each, so that no other class needs a hand-written move assignment.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

namespace pvrdma {

// Owns a file descriptor; -1 is empty. Closing ignores errors, as each write is checked by itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    Fd(std::move(other)).swap(*this);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  void swap(Fd& other) noexcept { std::swap(fd_, other.fd_); }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Handle<nl_sock, nl_socket_free>: a unique_ptr that frees with a C function.
template <auto Free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const noexcept {
    static_cast<void>(Free(object));
  }
};
template <typename T, auto Free>
using Handle = std::unique_ptr<T, FreeWith<Free>>;

}  // namespace pvrdma
