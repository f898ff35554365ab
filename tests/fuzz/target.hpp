// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by fuzz targets. A target is a function that takes bytes that an attacker may send or
// write, and aborts where a property does not hold. It waits for nothing, and leaves nothing
// behind.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace pvrdma::fuzz {

using Target = void (*)(std::string_view bytes);

struct Named {
  const char* name;  // also of its folder in corpus/
  Target run;
  unsigned mutations = 200;  // of each file of that folder, for replay.cpp
};
// All targets (targets.cpp).
[[nodiscard]] std::span<const Named> targets();

void client(std::string_view bytes);
void config(std::string_view bytes);
void control(std::string_view bytes);
void executor_json(std::string_view bytes);
void figures(std::string_view bytes);
void health(std::string_view bytes);
void host_output(std::string_view bytes);
void initramfs(std::string_view bytes);
void ledger(std::string_view bytes);
void mesh(std::string_view bytes);
void netlink(std::string_view bytes);
void proc(std::string_view bytes);
void recipe(std::string_view bytes);
void serve(std::string_view bytes);
void service(std::string_view bytes);

// Takes the first byte, which chooses the use of the rest; 0: there is none.
inline unsigned take_choice(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto choice = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return choice;
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// A text for a terminal has no control characters but line ends.
inline void require_tame(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0xffU;
    require((byte >= ' ' || byte == '\n') && byte != 0x7f && !(byte == 0xc2 && next < 0xa0),
            "no control character is printed");
  }
}

// A message is one such line.
inline void require_line(const std::string& message) {
  require_tame(message);
  require(message.find('\n') == std::string::npos, "a message is one line");
}

}  // namespace pvrdma::fuzz
