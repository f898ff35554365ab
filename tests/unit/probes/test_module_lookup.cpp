// The answers of module-lookup, and what becomes of a program that gives none.
#include "probes/module_lookup.hpp"

#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;

namespace {

const std::vector<std::string> kAsked{"ib_umad", "vmxnet3", "mlx4_ib", "rdma_cm"};

std::vector<Field<Shipped>> run(const test::Tree& tree, const std::string& script,
                                Milliseconds timeout = std::chrono::seconds{10}) {
  tree.file("/lookup", "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(tree / "/lookup", std::filesystem::perms::owner_all);
  return run_module_lookup(tree / "/lookup", "6.1.0", kAsked, timeout);
}

}  // namespace

TEST_CASE("each answer comes back as it was written") {
  const std::vector<Field<Shipped>> all{
      Shipped::Loadable, Shipped::BuiltIn, Shipped::Missing,
      Field<Shipped>::unreadable({EACCES, "looking up module", "rdma_cm"})};
  std::string lines;
  for (const auto& one : all) lines += lookup_line(one);
  CHECK(lines == "loadable\nbuilt-in\nmissing\nerror 13\n");
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
  CHECK(run(tree,
            "test \"$*\" = '6.1.0 ib_umad vmxnet3 mlx4_ib rdma_cm' && printf "
            "'loadable\\nmissing\\nmissing\\nmissing\\n'")[0]
            .is(Shipped::Loadable));
  const auto failed = run(tree, "echo 'no index' >&2; exit 1");
  REQUIRE(failed.size() == kAsked.size());
  CHECK(failed[3].error()->code == EREMOTEIO);
  CHECK(failed[3].error()->message().find("no index") != std::string::npos);
  CHECK(run(tree, "sleep 60", Milliseconds{50})[0].error()->code == ETIMEDOUT);
  CHECK(run_module_lookup("/nowhere", "6.1.0", kAsked)[0].error()->code == ENOENT);
}
