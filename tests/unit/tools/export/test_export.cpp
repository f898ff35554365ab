// SPDX-License-Identifier: GPL-2.0-or-later
// `export`: the texts for container engines, Kubernetes and vSphere, and the files that are kept.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "agent/base/file.hpp"
#include "agent/tools/export/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;

namespace {

struct Place {
  fake::Directory directory;
  std::string socket = directory / "socket";
  std::string file = directory / "pvrdma.io-adapter.json";
  test::Tree tree;

  Place() { add_function("0000:13:00.1", "uverbs0"); }
  void add_function(const std::string& function, const std::string& uverbs,
                    const std::string& driver = kDriverModule) const {
    const std::string folder = "/sys/devices/pci0000:00/" + function;
    tree.directory(folder + "/infiniband_verbs/" + uverbs);
    tree.link(folder + "/driver", "/sys/bus/pci/drivers/" + driver);
    tree.link("/sys/bus/pci/devices/" + function, folder);
  }
  [[nodiscard]] fake::Printed run(ExportOptions options) const {
    options.root = tree.root();
    fake::Screen screen;
    Settings settings = fake::settings(socket);
    settings.answer_within = Milliseconds{300};
    const int code = print_export(settings, screen.console, options);
    return {code, screen.out(), screen.err()};
  }
  [[nodiscard]] bool is_written() const { return std::filesystem::exists(file); }
  [[nodiscard]] fake::Agent agent(const Json& health) const {
    return {socket, {{"GetHealth", fake::answers({{"health", health}})}}};
  }
  [[nodiscard]] ExportOptions to_file(ExportFormat format = ExportFormat::Cdi) const {
    ExportOptions options;
    options.format = format;
    options.output = file;
    return options;
  }
};

// Scripts in place of open-vm-tools' programs; the path finds them first.
struct Tools {
  explicit Tools(const fake::Directory& place) : directory_{place / "bin"} {
    std::filesystem::create_directory(directory_);
    ::setenv("PATH", (directory_ + ":" + path_).c_str(), 1);
  }
  ~Tools() { ::setenv("PATH", path_.c_str(), 1); }
  Tools(const Tools&) = delete;
  Tools& operator=(const Tools&) = delete;
  Tools(Tools&&) = delete;
  Tools& operator=(Tools&&) = delete;

  void add(const std::string& name, const std::string& script) const {
    REQUIRE(replace_file(directory_ + "/" + name, "#!/bin/sh\n" + script + "\n", 0755));
  }
  // A host that writes each request to a line of a file.
  void add_host(const std::string& name = "vmware-rpctool") const {
    add(name, "for word; do :; done; echo \"$word\" >>" + directory_ + "/asked");
  }
  [[nodiscard]] std::vector<Json> asked() const {
    const std::string text = read_file(directory_ + "/asked").value_or("");
    const std::string key = "info-set guestinfo.pvrdma-agent.health ";
    std::vector<Json> values;
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string line{cut(rest, '\n')};
      REQUIRE(line.substr(0, key.size()) == key);
      values.push_back(Json::parse(line.substr(key.size())));
    }
    return values;
  }

 private:
  std::string directory_;
  std::string path_ = std::getenv("PATH");
};

ExportOptions publishing() {
  ExportOptions options;
  options.format = ExportFormat::Guestinfo;
  options.publish = true;
  options.tool_within = Milliseconds{2000};
  return options;
}

}  // namespace

TEST_CASE("export: each format is printed; without an agent there is an error") {
  const Place place;
  const fake::Printed none = place.run({});
  CHECK(none.code == 3);
  CHECK(none.out.empty());
  CHECK(!none.err.empty());
  const fake::Agent agent = place.agent(samples::ready());
  CHECK(Json::parse(place.run({}).out)["kind"] == "pvrdma.io/adapter");
  ExportOptions options;
  options.format = ExportFormat::NodeFeatures;
  CHECK(has(place.run(options).out, "pvrdma.io/ready=true\n"));
  options.format = ExportFormat::Guestinfo;
  const Json value = Json::parse(place.run(options).out);
  CHECK(value["state"] == "ready");
  CHECK(std::regex_match(value["bootId"].get<std::string>(), std::regex{"[0-9a-f]{32}"}));
}

TEST_CASE("export: options that exclude each other are an error") {
  const Place place;
  ExportOptions options;
  options.watch = true;
  CHECK(has(place.run(options).err, "--watch goes only with --output or --publish"));
  options.publish = true;
  const fake::Printed published = place.run(options);
  CHECK(published.code == 3);
  CHECK(has(published.err, "--publish is for guestinfo"));
}

TEST_CASE("export: the file is removed with the devices, but not with the agent") {
  const Place place;
  {
    const fake::Agent agent = place.agent(samples::ready());
    CHECK(place.run(place.to_file()).code == 0);
    CHECK(Json::parse(read_file(place.file).value())["devices"].size() == 2);
  }
  ExportOptions watching = place.to_file();
  watching.watch = true;
  watching.pace = {Milliseconds{2000}, Milliseconds{10}, 1};
  CHECK(place.run(watching).code == 0);  // no agent answers
  CHECK(place.is_written());
  std::filesystem::remove(place.socket);
  const fake::Agent agent{place.socket,
                          {{"WatchHealth", fake::streams({samples::without_device()})}}};
  CHECK(place.run(watching).code == 0);
  CHECK(!place.is_written());
  CHECK(place.run(watching).code == 0);  // there is no file to remove
}

TEST_CASE("export: a node that the kernel does not have for the adapter is left out") {
  const Place place;
  Json health = samples::ready();
  health["adapters"].push_back(health["adapters"][0]);
  health["adapters"][1]["function"] = "0000:1b:00.1";
  health["adapters"][1]["uverbs"] = "uverbs1";
  SECTION("another function has it") { place.add_function("0000:1b:00.1", "uverbs2"); }
  SECTION("it is of another driver") { place.add_function("0000:1b:00.1", "uverbs1", "mlx5_core"); }
  SECTION("there is no such function") {}
  const fake::Agent agent = place.agent(health);
  const Json cdi = Json::parse(place.run({}).out);
  REQUIRE(cdi["devices"].size() == 2);
  CHECK(cdi["devices"][0]["name"] == "0000:13:00.1");
  CHECK(cdi["devices"][1]["name"] == "all");
  CHECK(has(cdi.dump(), "uverbs0"));
  CHECK_FALSE(has(cdi.dump(), "uverbs1"));
}

TEST_CASE("export: a device file is left alone") {
  const Place place;
  const fake::Agent agent = place.agent(samples::ready());
  std::filesystem::create_symlink("/dev/null", place.file);
  const fake::Printed printed = place.run(place.to_file());
  CHECK(printed.code == 3);
  CHECK(has(printed.err, "it is no regular file"));
}

TEST_CASE("export: something other than a regular file is not removed either") {
  const Place place;
  const fake::Agent agent = place.agent(samples::without_device());
  SECTION("FIFO") { REQUIRE(::mkfifo(place.file.c_str(), 0600) == 0); }
  SECTION("link") { std::filesystem::create_symlink("/dev/null", place.file); }
  SECTION("link to nothing") { std::filesystem::create_symlink("nothing", place.file); }
  const fake::Printed printed = place.run(place.to_file());
  CHECK(printed.code == 3);
  CHECK(has(printed.err, "it is no regular file"));
  CHECK(std::filesystem::exists(std::filesystem::symlink_status(place.file)));
}

TEST_CASE("export: an agent that has not looked yet changes no file") {
  const Place place;
  const fake::Agent agent{place.socket,
                          {{"WatchHealth", fake::streams({samples::unknown()})},
                           {"GetHealth", fake::answers({{"health", samples::unknown()}})}}};
  ExportOptions options = place.to_file();
  SECTION("cdi") {}
  SECTION("nfd") { options.format = ExportFormat::NodeFeatures; }
  REQUIRE(replace_file(place.file, "as it was", 0644));
  const fake::Printed printed = place.run(options);
  CHECK(printed.code == 3);
  CHECK(has(printed.err, "no look has finished yet"));
  options.watch = true;
  options.pace = {Milliseconds{2000}, Milliseconds{10}, 1};
  CHECK(place.run(options).code == 0);
  CHECK(read_file(place.file).value() == "as it was");
}

TEST_CASE("export: the host is told by vmware-rpctool, or by vmtoolsd") {
  const Place place;
  const Tools tools{place.directory};
  const fake::Agent agent = place.agent(samples::ready());
  SECTION("vmware-rpctool") { tools.add_host(); }
  SECTION("vmtoolsd, where vmware-rpctool is refused") {
    tools.add("vmware-rpctool", "echo Failed sending message to VMware.; exit 1");
    tools.add_host("vmtoolsd");
  }
  SECTION("vmtoolsd, where vmware-rpctool hangs") {
    tools.add("vmware-rpctool", "exec sleep 60");
    tools.add_host("vmtoolsd");
  }
  CHECK(place.run(publishing()).code == 0);
  const auto asked = tools.asked();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0]["state"] == "ready");
  CHECK(asked[0]["updateCounter"] == 1);
}

TEST_CASE("export: a host that refuses is an error with both programs' answers") {
  const Place place;
  const Tools tools{place.directory};
  tools.add("vmware-rpctool", "echo Permission denied; exit 1");
  tools.add("vmtoolsd", "echo vmtoolsd is no; exit 2");
  const fake::Printed printed = place.run(publishing());
  CHECK(printed.code == 3);
  CHECK(has(printed.err, "vmware-rpctool: status 1: Permission denied"));
  CHECK(has(printed.err, "vmtoolsd: status 2: vmtoolsd is no"));
}

TEST_CASE("export: the host is told once of an agent that knows nothing, which is an error") {
  const Place place;
  const Tools tools{place.directory};
  tools.add_host();
  SECTION("it does not answer") { CHECK(place.run(publishing()).code == 3); }
  SECTION("it has not looked yet") {
    Json unknown = samples::ready();
    unknown["state"] = "unknown";
    unknown["adapters"] = Json::array();
    const fake::Agent agent = place.agent(unknown);
    CHECK(place.run(publishing()).code == 3);
  }
  REQUIRE(tools.asked().size() == 1);
  CHECK(tools.asked()[0]["state"] == "unknown");
}

TEST_CASE("export: the host is told of a change, and regularly that we live") {
  const Place place;
  const Tools tools{place.directory};
  tools.add_host();
  ExportOptions options = publishing();
  options.watch = true;
  options.pace = {Milliseconds{300}, Milliseconds{0}, 4};
  Json changed = samples::ready();
  changed["state"] = "degraded";
  SECTION("not of an unchanged verdict") {
    const fake::Agent agent{place.socket,
                            {{"WatchHealth", fake::streams({samples::ready(), changed})},
                             {"GetHealth", fake::answers({{"health", changed}})}}};
    CHECK(place.run(options).code == 0);
    const auto asked = tools.asked();
    REQUIRE(asked.size() == 2);
    CHECK(asked[0]["state"] == "ready");
    CHECK(asked[1]["state"] == "degraded");
    CHECK(asked[1]["updateCounter"] == 2);
  }
  SECTION("of a missing agent") {
    CHECK(place.run(options).code == 0);
    REQUIRE(tools.asked().size() == 1);
    CHECK(tools.asked()[0]["state"] == "unknown");
  }
  SECTION("by a heartbeat") {
    options.heartbeat = Milliseconds{1};
    const fake::Agent agent{place.socket,
                            {{"WatchHealth", fake::streams({samples::ready()})},
                             {"GetHealth", fake::answers({{"health", samples::ready()}})}}};
    CHECK(place.run(options).code == 0);
    CHECK(tools.asked().size() > 1);
  }
}
