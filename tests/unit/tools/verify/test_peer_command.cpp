// SPDX-License-Identifier: GPL-2.0-or-later
// `verify` as a command, with a made-up helper program: the output and the files of each side, and
// wrong command lines.
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "agent/tools/verify/commands.hpp"
#include "agent/tools/verify/peer/earlier.hpp"
#include "agent/tools/verify/peer/greeting.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/verify/free_port.hpp"
#include "tests/unit/tools/verify/pasted_properties.hpp"
#include "tests/unit/tools/verify/simulated_machine.hpp"
#include "tests/unit/tools/verify/verify_machine.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::kFigures;
using Machine = pvrdma::test::VerifyMachine;

TEST_CASE_METHOD(Machine,
                 "the measuring side prints the figures, and keeps them for the next run") {
  answers(kFigures);
  options.peer = "192.168.30.2";
  run();
  CHECK(code == 0);
  CHECK(
      shows("192.168.30.2 from rocep19s0f1: messages pass, by RDMA: through one host's memory or "
            "over the wire\n"));
  CHECK(shows("9000 MB/s out, 5000 in"));
  CHECK(verify::best_earlier(options.state_file, "192.168.30.2") == 5000.0);
}

TEST_CASE_METHOD(Machine, "of too many peers the one that measured longest ago is forgotten") {
  nlohmann::json runs;
  for (std::size_t i = 0; i < verify::kPeersKept; ++i)
    runs["peer" + std::to_string(i)] = {
        {{"at", i == 7 ? "2026-01-01T00:00:00Z" : "2026-02-01T00:00:00Z"},
         {"bandwidth_mb_s", 1000.0}}};
  REQUIRE(make_directories(std::filesystem::path{options.state_file}.parent_path()));
  REQUIRE(replace_file(options.state_file, runs.dump()));
  REQUIRE(verify::remember(options.state_file, "new", 2000.0, 3.0));
  CHECK(verify::best_earlier(options.state_file, "new") == 2000.0);
  CHECK(verify::best_earlier(options.state_file, "peer0") == 1000.0);
  CHECK_FALSE(verify::best_earlier(options.state_file, "peer7"));
}

TEST_CASE_METHOD(Machine, "the listener prints the figures of its own direction, and keeps none") {
  answers("\"parts\": 20, \"peer_address\": \"192.168.30.9\", \"figures\": {" +
          std::string{kFigures} + "}");
  options.listen = true;
  run();
  CHECK(code == 0);
  CHECK(
      shows("192.168.30.9 from rocep19s0f1: messages pass, by RDMA: through one host's memory or "
            "over the wire\n"));
  CHECK(shows("5000 MB/s out, 9000 in"));
  CHECK_FALSE(verify::best_earlier(options.state_file, "192.168.30.9"));
  options.expected = verify::parse_expectation("latency=1us");
  run();
  CHECK(code == 2);
}

TEST_CASE_METHOD(Machine, "what the hosts print tells the wire from one host's memory") {
  tree.file("/sys/class/infiniband/rocep19s0f1/ports/1/gid_attrs/ndevs/0", "ens19f0\n");
  tree.file("/sys/class/net/ens19f0/address", std::string{test::kOwnMac} + "\n");
  tree.file("/paste", test::pasted_properties("ab", "11"));
  const std::string mac = std::string{"\"peer_mac\": \""} + test::kPeerMac + "\"";
  options.peer = "192.168.30.2";
  options.host_properties = tree / "/paste";
  answers(kFigures + (", " + mac));
  run();
  CHECK(code == 0);
  CHECK(shows("messages pass, by native RDMA\n"));
  CHECK(shows("The host esx0b has a NIC with RDMA"));
  // The listener gives them.
  options.listen = true;
  answers("\"parts\": 20, \"peer_address\": \"192.168.30.9\", " + mac + ", \"figures\": {" +
          std::string{kFigures} + "}");
  run();
  CHECK(shows("messages pass, by native RDMA\n"));
  // A peer of an earlier version, or a text that is no address.
  for (const char* told : {"", ", \"peer_mac\": \"00:50:56:8a:11:0x\"", ", \"peer_mac\": 7"}) {
    options.listen = false;
    answers(std::string{kFigures} + told);
    run();
    CHECK(shows("The MAC address of the peer's adapter"));
    CHECK_FALSE(shows("by native RDMA"));
  }
  tree.file("/paste", "esxcli rdma device list\n");
  run();
  CHECK(code == 3);
  CHECK(err.find("reading the properties of PVRDMA adapters") != std::string::npos);
}

TEST_CASE_METHOD(Machine, "a peer that does not tell its figures was still served") {
  options.listen = true;
  for (const char* told : {"null", "{}", "[1]", "{\"data_whole\": true, \"latency\": [1]}"}) {
    answers("\"parts\": 20, \"peer_address\": \"192.168.30.9\", \"figures\": " + std::string{told});
    run();
    CHECK(code == 0);
    CHECK(out == "rocep19s0f1: served 192.168.30.9; its user has the figures\n");
  }
}

TEST_CASE_METHOD(Machine, "a peer that measured nothing, or lacks figures") {
  options.listen = true;
  answers(R"("parts": 0, "peer_address": "192.168.30.9", "figures": null)");
  run();
  CHECK(code == 3);
  CHECK(err.find("192.168.30.9 told no figures") != std::string::npos);
  options.expected = verify::parse_expectation("latency=50us");
  answers(R"("parts": 20, "peer_address": "192.168.30.9", "figures": null)");
  run();
  CHECK(code == 3);
  CHECK(err.find("192.168.30.9 told no figures") != std::string::npos);
}

TEST_CASE_METHOD(Machine, "a run that fails once it measures is a failure, before that unknown") {
  options.peer = "192.168.30.2";
  answers(R"("failed": {"measuring": true, "message": "no"})");
  run();
  CHECK(code == 2);
  answers(R"("failed": {"measuring": false, "message": "no peer"})");
  run();
  CHECK(code == 3);
  CHECK(err == "pvrdma-agentctl: no peer\n");
}

TEST_CASE_METHOD(Machine, "a helper program has more time only once a client has told that") {
  options.listen = true;
  options.wait = options.helper_grace = Milliseconds{0};
  options.duration = Milliseconds{500};  // so the first limit is 1.5 s
  const std::string slow = "sleep 2; echo '{\"parts\": 20, \"peer_address\": \"::1\"}'";
  const std::string told = "echo libibverbs; echo 'serves a client whose duration in ms is ";
  tree.program("/helper", told + "600000'; " + slow);
  run();
  CHECK(code == 0);
  for (const std::string& script : {slow, told + "200'; sleep 600"}) {
    tree.program("/helper", script);
    run();
    CHECK(code == 3);
    CHECK(err.find("the helper took longer than 1 s") != std::string::npos);
  }
  tree.program("/helper", told + "600000'; echo 'out of memory'; exit 1");
  run();
  CHECK(err.find("pvrdma-verify: out of memory") != std::string::npos);
}

TEST_CASE_METHOD(Machine, "a token's file has a token, and others may not read it") {
  answers(kFigures);
  options.peer = "192.168.30.2";
  options.token_file = tree / "/token";
  const auto runs_with = [&](const std::string& content, unsigned mode) {
    tree.file("/token", content);
    REQUIRE(::chmod(options.token_file.c_str(), mode) == 0);
    run();
    return code == 0;
  };
  // Without AF_ALG no token is of use.
  const bool has_af_alg = verify::hmac("secret", "").has_value();
  CHECK(runs_with("secret\n", 0600) == has_af_alg);
  if (!has_af_alg) CHECK(err.find("an HMAC by AF_ALG") != std::string::npos);
  CHECK_FALSE(runs_with("secret\n", 0644));
  CHECK(err.find("open to others") != std::string::npos);
  for (const char* nothing : {"", "\n", "\r\n\n"}) {
    CHECK_FALSE(runs_with(nothing, 0600));
    CHECK(err.find("the token's file is empty") != std::string::npos);
  }
}

// As on a kernel whose nldev names no holders: this machine does not have the device.
TEST_CASE_METHOD(Machine, "a job that holds the adapter is not disturbed without --allow-in-use") {
  answers(kFigures);
  options.peer = "192.168.30.2";
  tree.file("/sys/module/vmw_pvrdma/refcnt", "1\n");
  tree.file("/proc/812/comm", "mpirun\n");
  tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs0");
  run();
  CHECK(code == 3);
  CHECK(err.find("rocep19s0f1 is in use, by mpirun (PID 812)") != std::string::npos);
  options.allow_in_use = true;
  run();
  CHECK(code == 0);
}

TEST_CASE_METHOD(Machine, "nor is a job that this user cannot see") {
  answers(kFigures);
  options.peer = "192.168.30.2";
  tree.file("/sys/module/vmw_pvrdma/refcnt", "1\n");
  run();
  CHECK(code == 3);
  CHECK(err.find("its reference count is 1") != std::string::npos);
  CHECK(err.find("--allow-in-use") != std::string::npos);
  options.allow_in_use = true;
  run();
  CHECK(code == 0);
}

TEST_CASE_METHOD(Machine, "a job that holds another adapter does not hinder") {
  answers(kFigures);
  options.peer = "192.168.30.2";
  options.device = "rocep19s0f1";
  test::bound_adapter(tree, "1b:00", "ens27f0", "rocep27s0f1", "uverbs1");
  tree.file("/sys/module/vmw_pvrdma/refcnt", "1\n");
  tree.file("/proc/812/comm", "mpirun\n");
  tree.link("/proc/812/fd/3", "/dev/infiniband/uverbs1");
  run();
  CHECK(code == 0);
  options.device = "rocep27s0f1";
  tree.link("/sys/class/infiniband/rocep27s0f1",
            "../../bus/pci/devices/0000:1b:00.1/infiniband/rocep27s0f1");
  run();
  CHECK(code == 3);
  CHECK(err.find("rocep27s0f1 is in use, by mpirun (PID 812)") != std::string::npos);
}

TEST_CASE_METHOD(Machine, "a mesh's figures are printed also where they cannot be written") {
  answers(kFigures);
  const test::FreePort port;
  options.mesh.rendezvous = "127.0.0.1:" + std::to_string(port.number);
  options.mesh.size = 2;
  options.mesh.folder = tree / "/results";
  options.wait = verify::kLong;
  {
    const std::jthread other{[&] {
      auto control = verify::joined(port.number, 1);
      if (!control) return;
      std::filesystem::remove_all(options.mesh.folder);
      verify::answer_pairs(*control, verify::kAllPairs);
    }};
    run(true);
  }
  CHECK(code == 3);
  CHECK(err.find("mesh.json: No such file or directory") != std::string::npos);
  CHECK(shows("2 of 2 machines"));
}

TEST_CASE_METHOD(Machine, "an adapter without an address is told before the others are awaited") {
  tree.file("/sys/class/infiniband/rocep19s0f1/ports/1/gids/1",
            "0000:0000:0000:0000:0000:0000:0000:0000\n");
  const test::FreePort port;
  options.mesh.rendezvous = "127.0.0.1:" + std::to_string(port.number);
  options.mesh.size = 2;
  options.wait = std::chrono::seconds{1};
  run(true);
  CHECK(code == 3);
  CHECK(err.starts_with("pvrdma-agentctl: verify mesh needs an address of the adapter"));
}

TEST_CASE_METHOD(Machine, "options without effect are refused") {
  options.peer = "192.168.30.2";
  options.mesh.size = 3;
  run();
  CHECK(code == 3);
  CHECK(err.find("are for verify mesh") != std::string::npos);
  options.mesh.rendezvous = "192.168.30.1:18650";
  options.mesh.resume = true;
  run(true);
  CHECK(code == 3);
  CHECK(err.find("--resume needs --output") != std::string::npos);
  options.mesh.resume = false;
  options.expected = verify::parse_expectation("latency=50us");
  run(true);
  CHECK(code == 3);
  CHECK(err.find("--expect is for one peer") != std::string::npos);
  options.mesh.rendezvous = "192.168.30.1";
  run(true);
  CHECK(err.find("mesh needs --rendezvous HOST:PORT") != std::string::npos);
}
