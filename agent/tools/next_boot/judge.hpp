// SPDX-License-Identifier: GPL-2.0-or-later
// Judges a Forecast: for each installed kernel whether the driver will be there and in order, for
// the machine whether links and limits are taken care of, and the findings. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/tools/next_boot/forecast.hpp"

namespace pvrdma {

enum class Outlook { Yes, No, Unknown };

struct ForecastCheck {
  std::string name;  // "driver", "modules", "order", "initramfs", "agent", "link", …
  Outlook outlook = Outlook::Unknown;
  std::string says;  // the state, for a person
};

struct KernelOutlook {
  std::string release;
  bool running = false;
  bool next = false;
  Outlook driver = Outlook::Unknown;  // whether the driver will be there
  std::vector<ForecastCheck> checks;
};

struct NextBoot {
  // The driver's outlook on the next kernel; where that is not known, on all kernels if they agree.
  Outlook driver = Outlook::Unknown;
  std::vector<KernelOutlook> kernels;  // the next one first, then the running one
  std::vector<ForecastCheck> machine;
  std::vector<Finding> findings;
  std::vector<std::string> unreadable;
};

[[nodiscard]] NextBoot judge(const Config& config, const Forecast& forecast);

// The parts of judge(), which add to `outcome`.

// Judges one kernel. `counts`: the next boot may take this kernel, so its faults become findings.
void judge_kernel(const Config& config, const Forecast& forecast, const KernelForecast& kernel,
                  bool counts, NextBoot& outcome);
// Adds the error to what could not be read, once. Returns its text.
std::string note(NextBoot& outcome, const Error& error);

}  // namespace pvrdma
