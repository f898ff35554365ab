// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 120;  // longer lines are hard to read

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Console Console::of_process() {
  Console console{stdout, stderr};
  if (isatty(STDOUT_FILENO) == 0) return console;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    console.width = std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
  const std::string_view terminal = environment("TERM");
  console.live = !terminal.empty() && terminal != "dumb";
  console.colour = console.live && environment("NO_COLOR").empty();
  return console;
}

Style Console::style() const { return {width, colour, Moment::now()}; }

bool Console::print(const std::string& text) const {
  return std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0;
}

void Console::complain(const std::string& text) const {
  std::string line = "pvrdma-agentctl: ";
  // `text` may have several lines. Each is made printable here, as it may contain text from
  // outside.
  for (std::string_view rest = text; !rest.empty();) line += printable(cut(rest, '\n')) + "\n";
  // A failure of this write is ignored: the exit code still tells of the error.
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), err));
  static_cast<void>(std::fflush(err));
}

void Console::progress(const std::string& text) const {
  if (live) print("\r\x1b[K" + shortened(text, width - 1));
}

}  // namespace pvrdma::ctl
