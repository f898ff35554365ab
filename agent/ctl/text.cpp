// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace pvrdma::ctl {

namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 120;  // longer lines are hard to read

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80;
  }));
}

std::string upper(std::string text) {
  for (char& letter : text)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return text;
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t used = columns(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (columns(text) <= width) return std::string{text};
  const std::string_view dots = width >= 3 ? "..." : "";
  std::string out;
  for (std::size_t taken = 0; taken < width - dots.size(); ++taken) {
    const std::size_t length = std::max<std::size_t>(first_code_point(text).length, 1);
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out + std::string{dots};
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = cut(text, ' ');
    if (word.empty()) continue;
    const std::size_t length = columns(word);
    if (column > indent && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
  }
  return out;
}

std::string row(const std::string& label, std::string_view text, std::size_t indent,
                const Style& style) {
  if (text.empty()) return {};
  return padded("  " + label, indent) + wrapped(printable(text), style.width, indent) + "\n";
}

std::string span(Milliseconds time) {
  const std::int64_t ms = std::max<std::int64_t>(time.count(), 0);
  if (ms < 1000) return std::to_string(ms) + " ms";
  const std::int64_t s = ms / 1000;
  const auto both = [](std::int64_t large, const char* large_unit, std::int64_t small,
                       const char* small_unit) {
    const std::string text = std::to_string(large) + large_unit;
    return small == 0 ? text : text + " " + std::to_string(small) + small_unit;
  };
  if (s < 60) return std::to_string(s) + " s";
  if (s < 3600) return both(s / 60, " min", s % 60, " s");
  if (s < 86400) return both(s / 3600, " h", s % 3600 / 60, " min");
  const std::int64_t days = s / 86400;
  return both(days, days == 1 ? " day" : " days", days < 100 ? s % 86400 / 3600 : 0, " h");
}

std::string moment(BootTime time, const Moment& now) {
  const std::string text = wall_time(time, now);
  return text.substr(0, 10) + " " + text.substr(11, 8) + " UTC (" + span(now.boot - time) + " ago)";
}

std::string painted(std::string text, Colour colour, const Style& style) {
  if (!style.colour || text.empty()) return text;
  const auto code = [&] {
    switch (colour) {
      case Colour::Bold:
        return "\x1b[1m";
      case Colour::Dim:
        return "\x1b[2m";
      case Colour::Green:
        return "\x1b[1;32m";
      case Colour::Yellow:
        return "\x1b[1;33m";
      case Colour::Red:
        return "\x1b[1;31m";
    }
    return "";
  }();
  return code + std::move(text) + "\x1b[0m";
}

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
