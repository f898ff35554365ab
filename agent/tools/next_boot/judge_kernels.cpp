// SPDX-License-Identifier: GPL-2.0-or-later
// Judges one kernel of a forecast.
#include <optional>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/tools/next_boot/judge.hpp"

namespace pvrdma {

namespace {

std::vector<std::string> without(const std::vector<std::string>& names,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> left;
  for (const std::string& name : names)
    if (!contains(others, name)) left.push_back(name);
  return left;
}

class Judge {
 public:
  Judge(const Config& config, const Forecast& forecast, const KernelForecast& kernel, bool counts,
        NextBoot& outcome)
      : config_(config), forecast_(forecast), kernel_(kernel), counts_(counts), outcome_(outcome) {}

  void run() {
    outlook_.release = kernel_.release;
    outlook_.running = kernel_.running;
    const NextKernel* next = forecast_.next.get();
    outlook_.next = next != nullptr && next->release == kernel_.release;
    if (const Error* error = kernel_.image.error()) note(outcome_, *error);
    judge_driver();
    // The order of modules does not matter where the driver is missing.
    if (outlook_.driver != Outlook::No) {
      judge_modules();
      if (shipped(kDriverModule)) judge_order();
      judge_initramfs();
    }
    outcome_.kernels.push_back(std::move(outlook_));
  }

 private:
  void say(const char* name, Outlook outlook, std::string text) {
    outlook_.checks.push_back({name, outlook, std::move(text)});
  }
  void find(Finding finding) {
    if (!counts_) return;
    auto& found = outcome_.findings;
    if (!contains(found, finding)) found.push_back(std::move(finding));
  }

  // None: not known. A kernel without a module index ships nothing.
  [[nodiscard]] std::optional<Shipped> shipped(const std::string& name) const {
    for (const ShippedModule& module : kernel_.modules) {
      if (module.name != name) continue;
      if (const Error* error = module.shipped.error(); error != nullptr && means_absent(*error))
        return Shipped::Missing;
      return module.shipped.is_known() ? std::optional{*module.shipped.get()} : std::nullopt;
    }
    return std::nullopt;
  }

  [[nodiscard]] const ModuleBlock* block_of(const std::string& name) const {
    const std::vector<ModuleBlock>* blocks = forecast_.blocks.get();
    return blocks != nullptr ? find_in(*blocks, name, &ModuleBlock::module) : nullptr;
  }

  void driver(Outlook outlook, std::string text) {
    outlook_.driver = outlook;
    say("driver", outlook, std::move(text));
  }

  void judge_driver() {
    const auto driver_shipped = shipped(kDriverModule);
    const auto net_shipped = shipped(kNetModule);
    if (!driver_shipped || !net_shipped) {
      for (const ShippedModule& module : kernel_.modules)
        if (const Error* error = module.shipped.error())
          return driver(Outlook::Unknown, note(outcome_, *error));
      return driver(Outlook::Unknown, "not looked for");
    }
    if (*driver_shipped == Shipped::Missing) {
      find_no_driver();
      return driver(Outlook::No, "this kernel does not ship vmw_pvrdma");
    }
    if (*net_shipped == Shipped::Missing) {
      find(make_finding(FindingId::ModuleNotShipped, "required",
                        {{"kernel", kernel_.release}, {"module", kNetModule}}));
      return driver(Outlook::No, "vmxnet3, which it needs, is not shipped");
    }
    if (kernel_.driver_signed.is(false)) {
      find(make_finding(FindingId::DriverUnsigned, "next-boot", {{"kernel", kernel_.release}}));
      return driver(Outlook::No, "vmw_pvrdma is not signed, and Secure Boot is on");
    }
    for (const std::string name : {kDriverModule, kNetModule})
      if (const ModuleBlock* block = block_of(name))
        return driver(Outlook::No, name + " is kept from being loaded: " + block->how);
    if (const auto claims = forecast_.claims.value_or({}); !claims.empty())
      return driver(Outlook::No,
                    claims.front().driver + " would take " + claims.front().ids +
                        " once it is loaded, whatever the order: " + claims.front().how);
    if (forecast_.blocks.is_unreadable())
      return driver(Outlook::Unknown, "shipped; whether it is kept from being loaded is not known");
    if (const Error* error = kernel_.driver_signed.error())
      return driver(Outlook::Unknown, note(outcome_, *error));
    driver(Outlook::Yes, *driver_shipped == Shipped::BuiltIn ? "vmw_pvrdma is built in"
                                                             : "vmw_pvrdma is shipped");
  }

  // DriverNotShipped is only for the kernel that is known to be next.
  void find_no_driver() {
    const Values values{{"kernel", kernel_.release}};
    if (outlook_.next) return find(make_finding(FindingId::DriverNotShipped, {}, values));
    outcome_.findings.push_back(make_finding(FindingId::KernelWithoutDriver,
                                             forecast_.next.is_known() ? "other" : "may-be-next",
                                             values));
  }

  void judge_modules() {
    std::vector<std::string> needed, optional;
    for (const std::string& name : config_.modules.before) {
      const auto known = shipped(name);
      if (!known)
        return say("modules", Outlook::Unknown, "it is not known whether " + name + " is shipped");
      if (known != Shipped::Missing) continue;
      const bool required = contains(config_.modules.required, name);
      (required ? needed : optional).push_back(name);
      find(make_finding(FindingId::ModuleNotShipped, required ? "required" : "optional",
                        {{"kernel", kernel_.release}, {"module", name}}));
    }
    std::string text;
    if (!needed.empty()) text = joined(needed) + " not shipped, and required";
    if (!optional.empty())
      text += (text.empty() ? "" : "; ") + joined(optional) + " not shipped, and not needed";
    say("modules", needed.empty() ? Outlook::Yes : Outlook::No,
        text.empty() ? "all of modules.before are shipped" : text);
  }

  // The modules that must precede the driver and can: a built-in module is there before any other.
  [[nodiscard]] std::vector<std::string> predecessors() const {
    std::vector<std::string> names;
    for (const ShippedModule& module : kernel_.modules)
      if (module.name != kDriverModule && module.shipped.is(Shipped::Loadable) &&
          block_of(module.name) == nullptr)
        names.push_back(module.name);
    return names;
  }

  void judge_order() {
    if (shipped(kDriverModule) == Shipped::BuiltIn)
      return say("order", Outlook::Unknown, "a built-in driver has no order that modprobe.d sets");
    if (const Error* error = forecast_.predecessors.error())
      return say("order", Outlook::Unknown, note(outcome_, *error));
    const std::vector<std::string> wanted = predecessors();
    const auto missing = without(wanted, forecast_.predecessors.value_or({}));
    if (missing.empty())
      return say("order", Outlook::Yes, "after " + joined(wanted) + ", by modprobe.d");
    find(make_finding(FindingId::OrderNotSet, "modprobe", {{"modules", joined(missing)}}));
    say("order", Outlook::No, "modprobe.d does not load " + joined(missing) + " before it");
  }

  // False also where a system is mounted without its partition for /boot, which then looks empty.
  [[nodiscard]] bool boot_has_kernel() const {
    const std::string* image = kernel_.image.get();
    return image != nullptr && image->starts_with("/boot/vmlinu");
  }

  void judge_initramfs() {
    if (kernel_.initramfs.is_absent() && boot_has_kernel())
      return say("initramfs", Outlook::Yes, "there is none");
    // kernel-install puts both into one folder (Boot Loader Specification, type 1).
    const std::string* kernel = kernel_.image.get();
    if (kernel_.initramfs.is_absent() && kernel != nullptr && kernel->ends_with("/linux"))
      return say("initramfs", Outlook::Unknown,
                 "none in /boot; an image beside " + *kernel + " is not looked at");
    if (kernel_.initramfs.is_absent())
      return say("initramfs", Outlook::Unknown,
                 "none in /boot, which does not have the kernel either: is /boot mounted?");
    if (const Error* error = kernel_.initramfs.error())
      return say("initramfs", Outlook::Unknown, note(outcome_, *error));
    const InitramfsForecast& image = *kernel_.initramfs.get();
    const auto* held = image.modules.get();
    if (held == nullptr) return judge_by_time(image);
    if (!contains(*held, kDriverModule))
      return say("initramfs", Outlook::Yes, "does not hold the driver, so its age does not matter");
    if (const auto missing = without(predecessors(), *held); !missing.empty()) {
      find(make_finding(
          FindingId::OrderNotSet, "initramfs",
          {{"image", image.path}, {"modules", joined(missing)}, {"kernel", kernel_.release}}));
      return say("initramfs", Outlook::No, "holds the driver, but not " + joined(missing));
    }
    if (const Error* error = image.current.error())
      return say("initramfs", Outlook::Unknown, note(outcome_, *error));
    if (image.current.is(true))
      return say("initramfs", Outlook::Yes, "holds the driver, and modprobe.d as it is now");
    find_old(image, "modprobe.d");
    say("initramfs", Outlook::No, "holds the driver, and an older modprobe.d");
  }

  // A user who may not read the image can still see how old it is.
  void judge_by_time(const InitramfsForecast& image) {
    const std::string why =
        image.modules.is_unreadable() ? note(outcome_, *image.modules.error()) : "";
    if (image.older_than.empty())
      return say("initramfs", Outlook::Unknown, "what it holds is not known: " + why);
    find_old(image, image.older_than);
    say("initramfs", Outlook::No, "older than " + image.older_than);
  }

  void find_old(const InitramfsForecast& image, const std::string& newer) {
    find(make_finding(FindingId::InitramfsOld, {},
                      {{"image", image.path}, {"newer", newer}, {"kernel", kernel_.release}}));
  }

  const Config& config_;
  const Forecast& forecast_;
  const KernelForecast& kernel_;
  const bool counts_;
  NextBoot& outcome_;
  KernelOutlook outlook_;
};

}  // namespace

void judge_kernel(const Config& config, const Forecast& forecast, const KernelForecast& kernel,
                  bool counts, NextBoot& outcome) {
  Judge{config, forecast, kernel, counts, outcome}.run();
}

}  // namespace pvrdma
