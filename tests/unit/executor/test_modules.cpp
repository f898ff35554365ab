// SPDX-License-Identifier: GPL-2.0-or-later
// libkmod on made-up module indexes; no real module can be inserted here.
#include <cerrno>

#include "agent/executor/modules.hpp"
#include "agent/model/config.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"
#include "tests/unit/module_blocks.hpp"
#include "tests/unit/module_index.hpp"
#include "tests/unit/places.hpp"

namespace pvrdma::executor {

namespace {

struct ModulesFixture {
  test::Tree tree;
  static constexpr const char* kName = "pvrdma_test_module";

  ModulesFixture() { test::ship_module(tree, kName); }
  Modules open() const {
    auto modules = Modules::open({tree / "/lib", {tree / "/conf"}});
    REQUIRE(modules.has_value());
    return std::move(*modules);
  }
};

}  // namespace

TEST_CASE_METHOD(ModulesFixture, "modules: not shipped") {
  const OperationResult result = open().insert("no_such_module_at_all");
  CHECK(result.outcome == Outcome::NotShipped);
  CHECK(result.detail == "this kernel does not ship no_such_module_at_all");
}

TEST_CASE("modules: a kernel without a module index") {
  const test::Tree tree;
  const auto modules = Modules::open({tree / "/lib/modules/none", {}});
  REQUIRE(modules.has_value());
  for (const OperationResult& result :
       {modules->insert("pvrdma_test_module"), modules->rehearse("pvrdma_test_module")}) {
    CHECK(result.outcome == Outcome::Failed);
    CHECK(result.code == ENOENT);
    CHECK(result.detail.find("module index") != std::string::npos);
    CHECK(result.detail.find("modules.dep.bin") != std::string::npos);
  }
}

TEST_CASE("modules: with this machine's own paths there is an answer") {
  const auto modules = Modules::open();
  REQUIRE(modules.has_value());
  const OperationResult result = modules->insert("no_such_module_at_all");
  CHECK((result.outcome == Outcome::NotShipped || result.outcome == Outcome::Failed));
  CHECK_FALSE(result.detail.empty());
}

TEST_CASE_METHOD(ModulesFixture, "modules: dashes and underscores are the same") {
  CHECK(open().rehearse("pvrdma-test-module").outcome == Outcome::Done);
}

TEST_CASE_METHOD(ModulesFixture, "modules: a refusal by the kernel is an outcome, not a crash") {
  const OperationResult result = open().insert(kName);
  CHECK_FALSE(result.good());
  CHECK(result.code != 0);
  CHECK(result.detail.find(kName) != std::string::npos);
}

TEST_CASE_METHOD(ModulesFixture, "modules: a block list") {
  tree.file("/conf/block.conf", "blacklist pvrdma_test_module\n");
  for (const OperationResult& result : {open().insert(kName), open().rehearse(kName)}) {
    CHECK(result.outcome == Outcome::Refused);
    // libkmod adds modprobe.blacklist= of the kernel's command line to the list.
    CHECK(result.detail ==
          "modprobe.d or the kernel's command line forbids it: blacklist pvrdma_test_module");
  }
}

TEST_CASE_METHOD(ModulesFixture, "modules: install commands that forbid") {
  for (const test::InstallCommand& command : test::kInstallCommands) {
    INFO(command.text);
    tree.file("/conf/install.conf",
              "install pvrdma_test_module " + std::string{command.text} + "\n");
    CHECK(open().rehearse(kName).good() != command.loads_nothing);
    if (!command.loads_nothing) continue;
    const OperationResult result = open().insert(kName);
    CHECK(result.outcome == Outcome::Refused);
    CHECK(result.detail.find(command.text) != std::string::npos);
  }
}

TEST_CASE_METHOD(ModulesFixture, "modules: any other install command is run, and reported") {
  const auto witness = (tree / "/witness").string();
  tree.file("/conf/install.conf",
            "install pvrdma_test_module printenv MODPROBE_MODULE > " + witness + "\n");
  const OperationResult result = open().insert(kName);
  CHECK(result.outcome == Outcome::Done);
  CHECK(result.detail.find("install pvrdma_test_module printenv") != std::string::npos);
  CHECK(tree.read("/witness") == "pvrdma_test_module\n");
}

TEST_CASE_METHOD(ModulesFixture, "modules: our own soft dependency's install command is not run") {
  const auto witness = (tree / "/witness").string();
  for (const char* name : {"pvrdma_agent_before", "of_somebody_else"}) {
    const std::string dependency = name;
    tree.file("/conf/order.conf", "softdep pvrdma_test_module pre: " + dependency + "\ninstall " +
                                      dependency + " printenv MODPROBE_MODULE > " + witness + "\n");
    const OperationResult result = open().insert(kName);
    CHECK_FALSE(result.good());  // the module file is not a module
    CHECK((result.detail.find("modprobe.d's command") == std::string::npos) ==
          (dependency == "pvrdma_agent_before"));
  }
  CHECK(tree.read("/witness") == "of_somebody_else\n");
}

TEST_CASE("modules: the shipped modprobe.d file loads what the default configuration does") {
  const auto text = read_file(places::modprobe_conf);
  REQUIRE(text.has_value());
  std::string list = "vmxnet3";
  for (const std::string& name : Config{}.modules.before) list += " " + name;
  CHECK(text->find("\nsoftdep vmw_pvrdma pre: pvrdma_agent_before\n") != std::string::npos);
  CHECK(text->find("\nremove pvrdma_agent_before /bin/true\n") != std::string::npos);
  CHECK(text->find("\ninstall pvrdma_agent_before /sbin/modprobe -b -q -a " + list + "\n") !=
        std::string::npos);
}

TEST_CASE_METHOD(ModulesFixture, "modules: an install command that fails") {
  tree.file("/conf/install.conf", "install pvrdma_test_module grep -q x /dev/null\n");
  const OperationResult result = open().insert(kName);
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.detail.find("install command failed") != std::string::npos);
}

TEST_CASE_METHOD(ModulesFixture, "modules: a dry run notices the missing file") {
  CHECK(open().rehearse(kName).outcome == Outcome::Done);
  std::filesystem::remove(tree / "/lib/kernel/pvrdma_test_module.ko");
  const OperationResult result = open().rehearse(kName);
  CHECK(result.outcome == Outcome::Failed);
  CHECK(result.code == ENOENT);
}

TEST_CASE("modules: the meaning of the kernel's errno") {
  struct Case {
    int code;
    Outcome insertion, removal;
  };
  for (const Case& one :
       {Case{0, Outcome::Done, Outcome::Done}, Case{EEXIST, Outcome::AlreadyDone, Outcome::Failed},
        Case{ENOKEY, Outcome::Refused, Outcome::Failed},
        Case{EKEYREJECTED, Outcome::Refused, Outcome::Failed},
        Case{EPERM, Outcome::Refused, Outcome::Refused},
        Case{ENOEXEC, Outcome::Failed, Outcome::Failed},
        Case{ENODEV, Outcome::Failed, Outcome::Failed},
        Case{ENOENT, Outcome::Failed, Outcome::AlreadyDone},
        Case{EAGAIN, Outcome::Failed, Outcome::InUse},
        Case{EBUSY, Outcome::Failed, Outcome::Failed}}) {
    INFO(one.code);
    CHECK(insertion_report("m", one.code).outcome == one.insertion);
    CHECK(removal_report("m", one.code).outcome == one.removal);
    if (!insertion_report("m", one.code).good())
      CHECK(insertion_report("m", one.code).code == one.code);
  }
  CHECK(insertion_report("m", ENOENT).detail.find("Unknown symbol") != std::string::npos);
  CHECK(insertion_report("m", EINVAL).detail.find("OFED") != std::string::npos);
  CHECK(insertion_report("m", EINVAL).detail.find("invalid for parameter") != std::string::npos);
  CHECK(insertion_report("m", EKEYREJECTED).detail.find("Secure Boot") != std::string::npos);
}

}  // namespace pvrdma::executor
