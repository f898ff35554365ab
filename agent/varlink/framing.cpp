// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/framing.hpp"

#include <cerrno>

namespace pvrdma::varlink {

void Decoder::feed(std::string_view bytes) {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    if (end_ != std::string::npos) end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t seen = buffer_.size();
  buffer_.append(bytes);
  if (end_ == std::string::npos) find_end(seen);
}

bool Decoder::has_message() const noexcept {
  return end_ != std::string::npos || buffer_.size() - begin_ > limit_;
}

Result<std::optional<std::string>> Decoder::next() {
  if (!has_message()) return std::nullopt;
  const std::size_t length = (end_ == std::string::npos ? buffer_.size() : end_) - begin_;
  if (length > limit_)
    return fail(EMSGSIZE, "receiving", "a message of more than " + std::to_string(limit_) + " B");
  std::string message = buffer_.substr(begin_, length);
  begin_ = end_ + 1;
  find_end(begin_);
  if (begin_ == buffer_.size()) {
    begin_ = 0;
    if (buffer_.capacity() > kKeptBytes)
      buffer_ = {};
    else
      buffer_.clear();
  }
  return message;
}

bool nests_within(std::string_view json_text, std::size_t levels) noexcept {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json_text.size(); ++i) {
    const char c = json_text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > levels) return false;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

}  // namespace pvrdma::varlink
