#include "agent/tools/mmio/size.hpp"

#include <bit>
#include <charconv>

namespace pvrdma::ctl::gpu {

namespace {

// Takes a number from 1 to `most` from the beginning of `text`.
std::optional<unsigned> take_number(std::string_view& text, unsigned most) {
  unsigned number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || number < 1 || number > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<Gpus> parse_gpus(std::string_view text) {
  unsigned count = 1;
  if (text.find_first_of("xX") != std::string_view::npos) {
    const auto given = take_number(text, kMostGpus);
    if (!given || !(text.starts_with('x') || text.starts_with('X'))) return std::nullopt;
    count = *given;
    text.remove_prefix(1);
  }
  const auto framebuffer = take_number(text, kMostGb);
  if (!framebuffer || !(text.empty() || text == "GB" || text == "gb")) return std::nullopt;
  return Gpus{count, *framebuffer};
}

std::uint64_t mmio_size_gb(std::uint64_t framebuffer_gb) {
  return std::bit_ceil(framebuffer_gb) * 2;
}

}  // namespace pvrdma::ctl::gpu
