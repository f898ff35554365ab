#include "agent/plan/customization.hpp"

#include <string>

#include "agent/plan/findings.hpp"

namespace pvrdma {

namespace {

// What cloud-init's network stage and the scripts of open-vm-tools are given by those themselves:
// 120 and 100 s.
constexpr Milliseconds kPatience{120'000};

BootTime deadline(const Inputs& in) {
  return in.history.customized_since.value_or(in.now) + kPatience;
}

}  // namespace

bool awaits_customization(const Inputs& in) {
  return !in.snapshot.customization.is_absent() && in.now < deadline(in);
}

void report_customization(const Inputs& in, Draft& draft) {
  const Field<std::string>& customization = in.snapshot.customization;
  if (customization.is_absent()) return;
  const std::string what = customization.is_known() ? *customization.get()
                                                    : "a customization of this VM (" +
                                                          customization.error()->message() + ")";
  if (awaits_customization(in)) {
    draft.look_by(deadline(in));
    draft.find(findings::customization_awaited(what, kPatience));
  } else {
    draft.find(findings::customization_late(what, kPatience));
  }
}

}  // namespace pvrdma
