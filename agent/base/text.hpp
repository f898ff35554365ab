// Taking text apart.
#pragma once

#include <string_view>

namespace pvrdma {

// Cuts the text up to `end` off the front of `rest`, and `end` with it: all of it where there is no
// `end`. `while (!rest.empty()) cut(rest, '\n')` gives each line, the last with or without newline.
inline std::string_view cut(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view head = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return head;
}

}  // namespace pvrdma
