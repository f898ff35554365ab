// What `report` collects: parts that fail, hang and flood, the bounds of all of them, the archive.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/base/program.hpp"
#include "agent/ctl/report/archive.hpp"
#include "agent/ctl/report/collect.hpp"
#include "agent/ctl/report/files.hpp"
#include "agent/ctl/report/host.hpp"
#include "agent/ctl/report/kernel_lines.hpp"
#include "agent/ctl/report/manifest.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/unpacked.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using namespace pvrdma::ctl::bundle;
using pvrdma::test::has;
using test::Tree;
using test::unpacked;

namespace {

constexpr Milliseconds kShort{300};

Part shell(const std::string& name, const std::string& script) {
  return {name, Command{{"sh", "-c", script}, 0, {}}};
}
Surroundings usual() { return {Root{}, "/usr/sbin:/usr/bin:/sbin:/bin", {"LC_ALL=C"}}; }
Entry only(const Part& part, const Bounds& bounds = {}) {
  auto entries = collect({part}, usual(), bounds);
  REQUIRE(entries.size() == 1);
  return entries.front();
}
}  // namespace

TEST_CASE("a part tells what it said, or why it failed and what it said until then") {
  const Entry good = only(shell("a.txt", "echo fine"));
  CHECK(good.outcome == Outcome::Good);
  CHECK(good.content == "fine\n");
  CHECK(good.source == "sh -c echo fine");
  const Entry failed = only(shell("a.txt", "echo 'no\033such device' >&2; exit 7"));
  CHECK(failed.outcome == Outcome::Failed);
  CHECK(failed.reason == "exit status 7: no\\x1bsuch device");
  CHECK(failed.content == "no\033such device\n");
  CHECK(only({"b", Command{{"sh", "-c", "exit 2"}, 2, {}}}).outcome == Outcome::Good);
  CHECK(only(shell("a.txt", "kill -SEGV $$")).reason == "ended by signal 11");
  const Entry absent = only({"c", Command{{"no-such-program", "-v"}, 0, {}}});
  CHECK(absent.outcome == Outcome::NotInstalled);
  CHECK(absent.reason == "no-such-program is not installed");
  CHECK(is_missed(absent));
}

TEST_CASE("a part that hangs is ended in its time, and its program is not run again") {
  Part slow = shell("slow.txt", "echo begun; sleep 60");
  slow.limit = kShort;
  const BootTime start = BootClock::now();
  const auto entries =
      collect({slow, slow, {"other", Command{{"echo", "on"}, 0, {}}}}, usual(), {});
  CHECK(BootClock::now() - start < std::chrono::seconds{20});
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].outcome == Outcome::TimedOut);
  CHECK(has(entries[0].reason, "not done in "));
  CHECK(entries[0].content == "begun\n");
  CHECK(entries[1].outcome == Outcome::Skipped);
  CHECK(entries[1].reason == "sh has hung before");
  CHECK(entries[2].content == "on\n");
}

TEST_CASE("a part that floods is cut at its limit, at the end of a line") {
  Part flood = shell("flood.txt", "while :; do echo 192.168.30.201; done");
  flood.limit_bytes = 100;
  const Entry entry = only(flood);
  CHECK(entry.outcome == Outcome::Good);
  CHECK(entry.truncated);
  CHECK(entry.content.size() == 90);  // six lines of 15 bytes
  Part filtered = flood;
  std::get<Command>(filtered.source).words = {"sh", "-c", "seq 100; echo needle; echo needle"};
  std::get<Command>(filtered.source).filter = [](std::string_view text) {
    return std::string{text.substr(text.find("needle"))};
  };
  CHECK(only(filtered).content == "needle\nneedle\n");
  CHECK(whole_lines("one\ntwo 192.168") == "one\n");
  CHECK(whole_lines("one 192.168") == "one");
  CHECK(whole_lines("192.168").empty());
}

TEST_CASE("all parts together have a time and a size, and can be interrupted") {
  Bounds bounds;
  bounds.bytes = 10;
  const auto full = collect({shell("a", "printf 'xxxx\\n'"), shell("b", "echo 123456789"),
                             shell("c", "printf '1\\n2\\n'; printf 345"), shell("d", "echo on")},
                            usual(), bounds);
  REQUIRE(full.size() == 4);
  CHECK(full[0].content == "xxxx\n");
  CHECK((full[1].truncated && full[1].content.empty()));
  CHECK((full[2].truncated && full[2].content == "1\n2\n"));
  CHECK(full[3].content.empty());
  bounds = {};
  bounds.time = kShort;
  const auto late =
      collect({shell("a", "sleep 60"), {"b", Command{{"echo"}, 0, {}}}}, usual(), bounds);
  CHECK(late[0].outcome == Outcome::TimedOut);
  CHECK(late[1].reason == "the time for all parts was over");
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Fd stop{ends[0]};
  ::close(ends[1]);
  bounds = {};
  bounds.stop_fd = stop.get();
  CHECK(only(shell("a", "sleep 60"), bounds).reason == "interrupted");
}

TEST_CASE("files are taken where they belong, and nothing else is") {
  const Tree tree;
  tree.file("/etc/one.conf", "one");
  tree.file("/etc/long.conf", "0123456789");
  tree.file("/etc/two.txt", "two");
  tree.file("/root/secret", "secret");
  tree.link("/etc/out.conf", (tree / "/root/secret").string());
  tree.link("/etc/in.conf", (tree / "/etc/one.conf").string());
  tree.directory("/etc/folder.conf");
  REQUIRE(::mkfifo((tree / "/etc/pipe.conf").c_str(), 0600) == 0);
  CHECK(read_known_file(tree.root(), "/etc/one.conf", 100)->content == "one");
  CHECK(read_known_file(tree.root(), "/etc/in.conf", 100)->content == "one");
  CHECK(read_known_file(tree.root(), "/etc/long.conf", 10)->truncated == false);
  const auto cut = read_known_file(tree.root(), "/etc/long.conf", 9);
  CHECK((cut->truncated && cut->content == "012345678"));
  CHECK(read_known_file(tree.root(), "/etc/out.conf", 100).error().code == ELOOP);
  CHECK(read_known_file(tree.root(), "/root/secret", 100).error().code == ELOOP);
  CHECK(read_known_file(tree.root(), "/etc/pipe.conf", 100).error().code == EINVAL);
  CHECK(read_known_file(tree.root(), "/etc/none", 100).error().code == ENOENT);

  Surroundings here = usual();
  here.root = tree.root();
  const auto entries =
      collect({{"files", Files{{"/etc", "/none", "/etc/two.txt"}, {".conf"}}}}, here, {});
  std::map<std::string, Outcome> outcomes;
  for (const Entry& entry : entries) outcomes[entry.name] = entry.outcome;
  CHECK(outcomes == std::map<std::string, Outcome>{{"files/etc/folder.conf", Outcome::Failed},
                                                   {"files/etc/in.conf", Outcome::Good},
                                                   {"files/etc/long.conf", Outcome::Good},
                                                   {"files/etc/one.conf", Outcome::Good},
                                                   {"files/etc/out.conf", Outcome::Failed},
                                                   {"files/etc/pipe.conf", Outcome::Failed},
                                                   {"files/etc/two.txt", Outcome::Good}});
}

TEST_CASE("of the kernel's messages those about RDMA are kept, and oopses whole") {
  CHECK(rdma_lines("a\nvmw_pvrdma 0000:13:00.1: fail\nusb 1-1: new\nIB_umad\n") ==
        "vmw_pvrdma 0000:13:00.1: fail\nIB_umad\n");
  CHECK(rdma_lines("2026-11-21T02:31:43+0000 rdma7 kernel: usb\n"
                   "2026-11-21T02:31:43+0000 rdma7 kernel: vmxnet3\n") ==
        "2026-11-21T02:31:43+0000 rdma7 kernel: vmxnet3\n");
  const std::string oops = "BUG: kernel NULL pointer\nRIP: 0010:x\n ? y\n---[ end trace 0 ]---\n";
  CHECK(rdma_lines("usb a\n" + oops + "usb b\n") == oops);
  std::string endless = "Oops: 0000\n";
  for (int n = 0; n < 200; ++n) endless += "stack\n";
  CHECK(rdma_lines(endless).size() == 11 + 79 * 6);
}

TEST_CASE("the manifest says of each part what became of it") {
  Entry good{"a/b.txt", "a --b", Outcome::Good, "", "text", true, false, Milliseconds{12}};
  Entry bad{"c.txt", "c", Outcome::NotInstalled, "c is not installed", "", false, false, {}};
  Entry optional = bad;
  optional.optional = true;
  const Json made = manifest({good, bad, optional},
                             {"1.2", "2026-11-21T02:31:43Z", false, true, Milliseconds{99}});
  CHECK(made["version"] == 1);
  CHECK(made["as_root"] == false);
  CHECK(made["redacted"] == true);
  CHECK(made["parts"][0] == Json::parse(R"({"name": "a/b.txt", "source": "a --b", "outcome": "good",
    "reason": null, "missed": false, "took_ms": 12, "bytes": 4, "truncated": true})"));
  CHECK(made["parts"][1]["outcome"] == "not-installed");
  CHECK(made["parts"][1]["missed"] == true);
  CHECK(made["parts"][2]["missed"] == false);
  CHECK(missed({good, optional}).empty());
  CHECK(missed({good, bad, optional}) == "c.txt (c is not installed)");
  Entry other = bad;
  other.reason = "late";
  CHECK(missed({bad, bad, good, other, bad}) ==
        "c.txt, c.txt (c is not installed), c.txt (late), c.txt (c is not installed)");
}

TEST_CASE("an archive holds what was put into it") {
  const std::string big(3'000'000, 'x');
  const std::string odd("\0\377\n", 3);
  const auto made = make_archive(
      "folder", {{"a/b", "text"}, {"empty", ""}, {"big", big}, {"odd", odd}}, 1'700'000'000);
  REQUIRE(made);
  CHECK(made->size() < 10'000);
  std::string folder;
  const auto files = unpacked(*made, &folder);
  CHECK(folder == "folder");
  CHECK(files == std::map<std::string, std::string>{
                     {"a/b", "text"}, {"empty", ""}, {"big", big}, {"odd", odd}});
}

TEST_CASE("what a host is called is known by its files") {
  const Tree tree;
  tree.file("/proc/sys/kernel/hostname", "node7\n");
  tree.file("/etc/hosts", "127.0.0.1 localhost\n10.0.0.7 node8.cluster.example gate # why\n");
  tree.file("/etc/resolv.conf", "nameserver 10.0.0.1\nsearch lab.example other\n");
  tree.file(
      "/etc/passwd",
      "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000:A,,,:/home/alice:/bin/sh\n"
      "slurm:x:64030:64030::/nonexistent:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n");
  tree.file("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  tree.file("/sys/class/net/ens3/address", "00:50:56:8a:9f:c2\n");
  Redactor redactor;
  learn_host(redactor, tree.root());
  CHECK(redactor.mask(
            "node7 node8 node8.cluster.example x.cluster.example gate a.lab.example other") ==
        "host-1 host-3 host-2 x.host-4 host-5 a.host-6 other");
  CHECK(redactor.mask("alice slurm nobody root localhost") ==
        "user-1 user-2 nobody root localhost");
  CHECK(redactor.mask("0123456789ABCDEF0123456789abcdef by-0050568a9fc2") == "uuid-1 by-mac-1");
}
