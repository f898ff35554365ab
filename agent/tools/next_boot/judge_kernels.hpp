// The part of a forecast's judgement that is about one kernel. Pure.
#pragma once

#include "agent/tools/next_boot/judge.hpp"

namespace pvrdma {

// `counts`: the next boot may take this kernel, so that what it lacks is a finding. Adds to
// `outcome`.
void judge_kernel(const Config& config, const Forecast& forecast, const KernelForecast& kernel,
                  bool counts, NextBoot& outcome);

// A kernel that is next but has no modules: no driver, if that is so.
void judge_unknown_kernel(const NextKernel& next, NextBoot& outcome);

}  // namespace pvrdma
