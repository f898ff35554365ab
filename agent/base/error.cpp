#include "agent/base/error.hpp"

#include <system_error>

namespace pvrdma {

std::string Error::message() const {
  std::string text = doing;
  if (!what.empty()) text += (text.empty() ? "" : " ") + what;
  // std::generic_category, unlike strerror, is safe beside other threads.
  if (code != 0) text += (text.empty() ? "" : ": ") + std::generic_category().message(code);
  return text;
}

}  // namespace pvrdma
