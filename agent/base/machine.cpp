#include "agent/base/machine.hpp"

#include <systemd/sd-id128.h>

#include <array>

namespace pvrdma {

namespace {

constexpr sd_id128_t kUse =
    SD_ID128_MAKE(5e, 1c, 7b, 02, 9d, 4f, 4e, 0a, b3, 61, 70, c8, 2f, d5, 96, e4);

std::string text_of(sd_id128_t id) {
  std::array<char, SD_ID128_STRING_MAX> text{};
  return sd_id128_to_string(id, text.data());
}

}  // namespace

std::string this_boot_id() {
  sd_id128_t id{};
  return sd_id128_get_boot(&id) < 0 ? std::string{} : text_of(id);
}

std::string this_machine() {
  sd_id128_t id{};
  return sd_id128_get_machine_app_specific(kUse, &id) < 0 ? std::string{} : text_of(id);
}

}  // namespace pvrdma
