// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/identifiers.hpp"

#include <net/if.h>

#include <algorithm>
#include <charconv>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

constexpr std::size_t kModuleNameMax = 55;

bool is_module_char(char c) { return is_alphanumeric(c) || c == '_' || c == '-'; }
bool is_control_or_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }

// True where `text` has the form of `pattern`: 'x' stands for a hexadecimal digit, any other
// character for itself.
bool has_form(std::string_view text, std::string_view pattern) {
  return text.size() == pattern.size() &&
         std::equal(text.begin(), text.end(), pattern.begin(), [](char c, char expected) {
           return expected == 'x' ? is_hex(c) : c == expected;
         });
}

}  // namespace

std::optional<std::string> module_name(std::string_view text) {
  if (text.empty() || text.size() > kModuleNameMax ||
      !std::all_of(text.begin(), text.end(), is_module_char))
    return std::nullopt;
  std::string name{text};
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::optional<std::string> mac_address(std::string_view text) {
  if (!has_form(text, "xx:xx:xx:xx:xx:xx")) return std::nullopt;
  return lower(text);
}

std::optional<std::string> pci_address(std::string_view text) {
  const std::string address = (text.size() == 7 ? "0000:" : "") + lower(text);
  if (!has_form(address, "xxxx:xx:xx.x")) return std::nullopt;
  unsigned device = 0;
  std::from_chars(address.data() + 8, address.data() + 10, device, 16);
  const char function = address.back();
  if (device > 0x1f || function > '7') return std::nullopt;
  return address;
}

std::optional<std::string> netdev_name(std::string_view text) {
  const bool good = !text.empty() && text.size() < IFNAMSIZ && text != "." && text != ".." &&
                    std::none_of(text.begin(), text.end(), [](char c) {
                      return c == '/' || c == ':' || is_control_or_blank(c);
                    });
  return good ? std::optional{std::string{text}} : std::nullopt;
}

}  // namespace pvrdma
