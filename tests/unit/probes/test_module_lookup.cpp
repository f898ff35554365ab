// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of module-lookup, and the result where the program gives none.
#include "probes/module_lookup.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "probes/kmod.hpp"
#include "probes/modprobe_config.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/module_object.hpp"
#include "tests/unit/module_index.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using test::module_index;

namespace {

const std::vector<std::string> kAsked{"ib_umad", "vmxnet3", "mlx4_ib", "rdma_cm"};

std::vector<IndexEntry> run(const test::Tree& tree, const std::string& script,
                            Milliseconds timeout = std::chrono::seconds{10}) {
  tree.file("/lookup", "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(tree / "/lookup", std::filesystem::perms::owner_all);
  return look_up_shipped(tree / "/lookup", tree.root(), "6.1", kAsked, timeout);
}

std::vector<IndexEntry> without_rights(const test::Tree& tree) {
  return look_up_shipped(places::module_lookup, tree.root(), "6.1", kAsked,
                         std::chrono::seconds{20});
}

// Runs in a process of its own. 0: it finds vmw_pvrdma and can open no file afterwards.
int opens_nothing_later(int folder) {
  if (!find_shipped_without_rights(folder, {"vmw_pvrdma"})[0].shipped.is(Shipped::Loadable))
    return 1;
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 && errno == EMFILE ? 0 : 2;
}

}  // namespace

TEST_CASE("each answer comes back as it was written") {
  const std::vector<IndexEntry> all{
      {Shipped::Loadable, {"ib_mad", "ib_core"}},
      {Shipped::BuiltIn},
      {Shipped::Missing},
      {Field<Shipped>::unreadable({EACCES, "looking up module", "rdma_cm"})}};
  std::string lines;
  for (const auto& one : all) lines += lookup_line(one);
  CHECK(lines == "loadable ib_mad ib_core\nbuilt-in\nmissing\nerror 13\n");
  const auto back = parse_lookup(lines, kAsked);
  REQUIRE(back);
  CHECK(*back == all);
  for (const char* bad : {"", "loadable\n", "loadable\nbuilt-in\nmissing\nerror x\n",
                          "loadable\nbuilt-in\nmissing\nperhaps\n",
                          "loadable\nloadable\nloadable\nloadable\nloadable\n"}) {
    CAPTURE(bad);
    CHECK(parse_lookup(bad, kAsked).error().code == EBADMSG);
  }
}

TEST_CASE("a program that gives no answer leaves all unreadable, with the reason") {
  const test::Tree tree;
  module_index(tree, "6.1");
  CHECK(run(tree,
            "test \"$*\" = 'shipped - ib_umad vmxnet3 mlx4_ib rdma_cm' && printf "
            "'loadable\\nmissing\\nmissing\\nmissing\\n'")[0]
            .shipped.is(Shipped::Loadable));
  const auto failed = run(tree, "echo 'no index' >&2; exit 1");
  REQUIRE(failed.size() == kAsked.size());
  CHECK(failed[3].shipped.error()->code == EREMOTEIO);
  CHECK(failed[3].shipped.error()->message().find("no index") != std::string::npos);
  CHECK(run(tree, "sleep 60", Milliseconds{50})[0].shipped.error()->code == ETIMEDOUT);
  CHECK(look_up_shipped("/nowhere", tree.root(), "6.1", kAsked)[0].shipped.error()->code == ENOENT);
}

TEST_CASE("the signer of a module: none for a missing or unsigned one; other files are an error") {
  const test::Tree tree;
  module_index(tree, "6.1");
  const auto folder = open_modules_of(tree.root(), "6.1");
  REQUIRE(folder);
  const auto signer_of = [&](const std::string& content) {
    tree.file("/lib/modules/6.1/kernel/net/vmw_pvrdma.ko", content);
    return module_signer(folder->get(), "vmw_pvrdma");
  };
  CHECK(module_signer(folder->get(), "no_such_module") == "");
  CHECK(signer_of(test::module_object({"name=vmw_pvrdma"}, false)) == "");
  CHECK(signer_of(test::module_object({"name=vmw_pvrdma"}, true)).value_or("") != "");
  CHECK_FALSE(signer_of("not a module"));
}

TEST_CASE("no file that the index of an image names is opened for a signature") {
  const test::Tree tree;
  const test::Tree elsewhere;
  module_index(tree, "6.1");
  elsewhere.file("/vmw_pvrdma.ko", test::module_object({"name=vmw_pvrdma"}, true));
  tree.file("/lib/modules/6.1/modules.dep.bin",
            test::index_of("vmw_pvrdma", (elsewhere / "/vmw_pvrdma.ko").string() + ":"));
  const auto signer = look_up_signer(places::module_lookup, tree.root(), "6.1", "vmw_pvrdma");
  REQUIRE(signer.is_unreadable());
  CHECK(signer.error()->code == EPERM);
}

TEST_CASE("an untrusted kernel: the installed program gives the same answer") {
  const test::Tree tree;
  CHECK(without_rights(tree)[0].shipped.error()->code == ENOENT);
  module_index(tree, "6.1");
  CHECK(without_rights(tree) == find_shipped(tree.root(), "6.1", kAsked));
  // Without rights the program cannot open a file later.
  tree.remove("/lib/modules/6.1/modules.symbols.bin");
  CHECK(without_rights(tree)[0].shipped.is_unreadable());
}

TEST_CASE("an untrusted kernel: the reader of its index can open no other file") {
  const test::Tree tree;
  module_index(tree, "6.1");
  const auto folder = open_modules_of(tree.root(), "6.1");
  REQUIRE(folder);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(opens_nothing_later(folder->get()));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

// libkmod 30 follows such an offset, and the program crashes; 34 checks it first, and finds
// nothing.
TEST_CASE("an index that crashes libkmod ends the helper program at most, not this one") {
  const test::Tree tree;
  module_index(tree, "6.1");
  std::string index{test::kEmptyIndex};
  index.replace(index.size() - 4, 4,
                "\x2F\xFF\xFF\xFF");  // the root, with children, is far outside of the file
  tree.file("/lib/modules/6.1/modules.dep.bin", index);
  const auto shipped = without_rights(tree);
  REQUIRE(shipped.size() == kAsked.size());
  const std::string answer = lookup_line(shipped[0]);
  const std::string ended = lookup_line({Field<Shipped>::unreadable({EREMOTEIO, "", ""})});
  CHECK((answer == ended || answer == lookup_line({Shipped::Missing})));
}
