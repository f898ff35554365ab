// SPDX-License-Identifier: GPL-2.0-or-later
// The folder with the results of `verify mesh`. Machines are made up.
#include "agent/tools/verify/mesh/results.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "agent/base/file.hpp"
#include "agent/tools/verify/mesh/rendering.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/verify/made_mesh.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::verify {

TEST_CASE("results are kept one by one, and a later run continues with them") {
  const test::Tree tree;
  const auto folder = tree / "/mesh";
  const Mesh mesh = mesh_of(3, 3);
  {
    const auto results = Results::open(folder, false);
    REQUIRE(results);
    for (const PairResult& pair : mesh.pairs) REQUIRE(results->keep(pair));
    REQUIRE(results->keep({"10.0.0.1", "10.0.0.9", std::nullopt, "it was lost"}));
  }
  const auto again = Results::open(folder, false);
  REQUIRE_FALSE(again);
  CHECK(again.error().message().find("--resume") != std::string::npos);
  // The file's end is cut off, as after a power failure.
  const auto text = read_file(folder / "pairs.jsonl");
  REQUIRE(replace_file(folder / "pairs.jsonl", *text + R"({"from": "10.0.)", 0644));
  const auto results = Results::open(folder, true);
  REQUIRE(results);
  REQUIRE(results->keep(mesh.pairs.front()));
  const auto earlier = results->earlier();
  REQUIRE(earlier);
  CHECK(earlier->size() == 4);  // failed pairs are tried again
  REQUIRE(results->write(mesh, judge(mesh)));
  CHECK(read_file(folder / "mesh.svg")->starts_with("<svg"));
}

TEST_CASE("the picture numbers its rows as the table does, as names may differ at their ends") {
  Mesh mesh = mesh_of(12, 12);
  for (Machine& machine : mesh.machines)
    machine.name = "compute-node-of-the-cluster-" + machine.name;
  const std::string picture = heat_map(mesh, judge(mesh));
  CHECK(picture.find(">1 compute-node-of...</text>") != std::string::npos);
  CHECK(picture.find(">12 compute-node-of...</text>") != std::string::npos);
}

TEST_CASE("after a meeting that failed the folder can be used again") {
  const test::Tree tree;
  for (const bool resume : {false, true, false}) CHECK(Results::open(tree / "/mesh", resume));
}

TEST_CASE("earlier results are read from a regular file alone, without waiting") {
  const test::Tree tree;
  tree.directory("/fifo");
  REQUIRE(::mkfifo((tree / "/fifo/pairs.jsonl").c_str(), 0600) == 0);
  const auto fifo = Results::open(tree / "/fifo", true);
  REQUIRE_FALSE(fifo);
  CHECK(fifo.error().message().find("no regular file") != std::string::npos);
  tree.file("/elsewhere", "{}\n");
  tree.link("/link/pairs.jsonl", "../elsewhere");
  CHECK(Results::open(tree / "/link", true).error().code == ELOOP);
  CHECK(tree.read("/elsewhere") == "{}\n");
  // What takes the file's place later is not read.
  const auto results = Results::open(tree / "/mesh", false);
  REQUIRE(results);
  tree.remove("/mesh/pairs.jsonl");
  REQUIRE(::mkfifo((tree / "/mesh/pairs.jsonl").c_str(), 0600) == 0);
  CHECK(results->earlier().value().empty());
}

}  // namespace pvrdma::verify
