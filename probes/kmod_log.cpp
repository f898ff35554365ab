#include "probes/kmod_log.hpp"

#include <libkmod.h>
#include <syslog.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "agent/base/guarded.hpp"
#include "agent/base/log.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

void log_line(void* /*data*/, int /*priority*/, const char* /*file*/, int /*line*/,
              const char* function, const char* format, va_list arguments) {
  std::array<char, 1024> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string_view rest = text.data();
  static_cast<void>(guarded([&] { log::debug("libkmod: {}: {}", function, cut(rest, '\n')); }));
}

}  // namespace

void take_over_log(kmod_ctx* context) {
  kmod_set_log_fn(context, log_line, nullptr);
  kmod_set_log_priority(context, log::wants(log::Level::Debug) ? LOG_DEBUG : LOG_EMERG);
}

}  // namespace pvrdma::probes
