// SPDX-License-Identifier: GPL-2.0-or-later
// Module files as libkmod reads them, with a kernel described by files.
#include <cerrno>

#include "agent/executor/driver.hpp"
#include "agent/executor/modules.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/module_object.hpp"
#include "tests/unit/module_index.hpp"

namespace pvrdma::executor {

namespace {

using test::module_object;

const std::string kSettings = " SMP preempt mod_unload ";

// Linux 6.1.0-18-amd64; its module index has the driver and the modules that it needs.
struct ModuleFileFixture {
  test::Tree tree;
  std::string file = "/lib/vmw_pvrdma.ko";

  ModuleFileFixture() {
    tree.file("/lib/modules.dep.bin", test::index_of("vmw_pvrdma", "vmw_pvrdma.ko: ib_core.ko"));
    for (const char* empty : {"alias", "symbols", "builtin", "builtin.alias"})
      tree.file("/lib/modules." + std::string{empty} + ".bin", test::index_of("", ""));
    tree.file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    tree.file("/conf/empty.conf", "");
    tree.file("/lib/ib_core.ko", module_object({"vermagic=6.1.0-18-amd64" + kSettings}));
    is_built("6.1.0-18-amd64" + kSettings);
  }
  void is_built(const std::string& magic, bool is_signed = false) {
    tree.file(file, module_object({"name=vmw_pvrdma", "vermagic=" + magic}, is_signed));
  }
  [[nodiscard]] OperationResult rehearse() const {
    const auto modules = Modules::open({tree / "/lib", {tree / "/conf"}});
    REQUIRE(modules.has_value());
    return modules->rehearse_again(tree.root(), "vmw_pvrdma");
  }
  void refuses(int code, const char* reason) const {
    const OperationResult result = rehearse();
    INFO(result.detail);
    CHECK_FALSE(result.good());
    CHECK(result.code == code);
    CHECK(result.detail.find(reason) != std::string::npos);
  }
};

}  // namespace

TEST_CASE_METHOD(ModuleFileFixture, "module file: of this kernel") {
  CHECK(rehearse().outcome == Outcome::Done);
}

TEST_CASE_METHOD(ModuleFileFixture, "module file: of another kernel") {
  is_built("6.1.0-17-amd64" + kSettings);
  refuses(ENOEXEC, "was built for Linux 6.1.0-17-amd64, and this is 6.1.0-18-amd64");
  is_built("6.1.0-18-amd64 SMP preempt_rt mod_unload ");
  refuses(ENOEXEC, "with other settings (SMP preempt_rt mod_unload), and this has SMP preempt mod");
  // With symbol versions, by which Enterprise Linux uses one build for several kernels.
  tree.file("/lib/ib_core.ko",
            module_object({"vermagic=6.1.0-18-amd64" + kSettings + "modversions "}));
  is_built("6.1.0-17-amd64" + kSettings + "modversions ");
  CHECK(rehearse().outcome == Outcome::Done);
}

TEST_CASE_METHOD(ModuleFileFixture,
                 "module file: without its kernel's version, or of another module") {
  tree.file(file, module_object({"name=vmw_pvrdma"}));
  refuses(ENOEXEC, "says for no kernel");
  tree.file(file, module_object({"name=floppy", "vermagic=6.1.0-18-amd64" + kSettings}));
  refuses(ENOEXEC, "is another module, floppy");
}

TEST_CASE_METHOD(ModuleFileFixture, "module file: cut off, or none") {
  const std::string whole = tree.read(file);
  for (const std::string& bytes :
       {std::string{}, whole.substr(0, 80), std::string{"not a module"}}) {
    tree.file(file, bytes);
    const OperationResult result = rehearse();
    CHECK_FALSE(result.good());
    CHECK(result.detail.find("vmw_pvrdma.ko") != std::string::npos);
  }
}

TEST_CASE_METHOD(ModuleFileFixture, "module file: signatures where the kernel requires them") {
  const char* enforced = "/sys/module/module/parameters/sig_enforce";
  const char* lockdown = "/sys/kernel/security/lockdown";
  SECTION("not required") {
    tree.file(enforced, "N\n");
    tree.file(lockdown, "[none] integrity confidentiality\n");
    CHECK(rehearse().outcome == Outcome::Done);
  }
  SECTION("enforced") { tree.file(enforced, "Y\n"); }
  SECTION("locked down") { tree.file(lockdown, "none [integrity] confidentiality\n"); }
  SECTION("locked down further") { tree.file(lockdown, "none integrity [confidentiality]\n"); }
  if (!std::filesystem::exists(tree / enforced) || tree.read(enforced) != "N\n")
    refuses(EKEYREJECTED, "has no signature");
  is_built("6.1.0-18-amd64" + kSettings, true);
  CHECK(rehearse().outcome == Outcome::Done);
}

TEST_CASE_METHOD(ModuleFileFixture,
                 "module file: the driver stays where it could not be loaded again") {
  is_built("6.1.0-17-amd64" + kSettings);
  bool removed = false;
  const OperationResult reload =
      reload_driver({[&] { return rehearse(); }, [] { return std::nullopt; },
                     [&] {
                       removed = true;
                       return done();
                     },
                     [] { return done(); }});
  CHECK_FALSE(removed);
  CHECK_FALSE(reload.driver_taken);
  CHECK(reload.detail.starts_with("not removed, as it could not be inserted again: "));
}

}  // namespace pvrdma::executor
