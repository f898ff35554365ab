// `export`: what is written for container engines, Kubernetes and vSphere, and what is kept.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "agent/base/file.hpp"
#include "agent/tools/export/command.hpp"
#include "agent/tools/export/formats.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/text.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;

namespace {

Health health_from(const Json& json) { return health_in({{"health", json}})->value; }

Json with_device(Json health, const std::string& member, const Json& value) {
  health["adapters"][0][member] = value;
  return health;
}

Json without_device() {
  Json health = samples::failed();
  health["adapters"] = Json::array({samples::broken_adapter()});
  return health;
}

struct Place {
  fake::Directory directory;
  std::string socket = directory / "socket";
  std::string file = directory / "pvrdma.io-adapter.json";

  [[nodiscard]] fake::Printed run(const ExportOptions& options) const {
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

// open-vm-tools' programs as scripts, which are found first.
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
  // A host that keeps each request on a line.
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

TEST_CASE("export: a device of CDI for each adapter, and one for all") {
  const Json cdi = Json::parse(exports::cdi(health_from(samples::ready()), true).value());
  CHECK(cdi["cdiVersion"] == "0.5.0");
  CHECK(cdi["kind"] == "pvrdma.io/adapter");
  REQUIRE(cdi["devices"].size() == 2);
  const Json& device = cdi["devices"][0];
  CHECK(device["name"] == "0000:13:00.1");
  const Json& nodes = device["containerEdits"]["deviceNodes"];
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0] ==
        Json{{"path", "/dev/infiniband/uverbs0"}, {"type", "c"}, {"permissions", "rw"}});
  CHECK(nodes[1]["path"] == "/dev/infiniband/rdma_cm");
  CHECK(cdi["devices"][1]["name"] == "all");
  CHECK(cdi["devices"][1]["containerEdits"] == device["containerEdits"]);
  CHECK(!has(cdi.dump(), "major"));
}

TEST_CASE("export: no node, or none that can be one, is no device of CDI") {
  CHECK(!exports::cdi(health_from(without_device()), true));
  for (const char* name : {"../sda", "uverbs", "uverbs0/../../sda", "uverbs00000", "uverbs1x"})
    CHECK(!exports::cdi(health_from(with_device(samples::ready(), "uverbs", name)), true));
  for (const char* function : {"all", "0000:13:00.1x", "0000:13:00", "../../etc/x"})
    CHECK(!exports::cdi(health_from(with_device(samples::ready(), "function", function)), true));
  const auto alone = exports::cdi(health_from(samples::ready()), false);
  REQUIRE(alone);
  CHECK(!has(*alone, "rdma_cm"));
}

TEST_CASE("export: labels of a node lapse") {
  const std::string text =
      exports::node_features(health_from(samples::ready()), samples::kNow, std::chrono::minutes{5});
  const std::string expiry = wall_time(samples::kNow.boot + std::chrono::minutes{5}, samples::kNow);
  CHECK(text == "# +expiry-time=" + expiry +
                    "\npvrdma.io/state=ready\npvrdma.io/ready=true\npvrdma.io/adapters=1\n"
                    "pvrdma.io/adapters-ready=1\n");
  CHECK(has(exports::node_features(health_from(samples::failed()), samples::kNow, {}),
            "pvrdma.io/ready=false\n"));
}

TEST_CASE("export: a guestinfo value is short, and says what is missing") {
  const Health health = health_from(without_device());
  const Json value = Json::parse(exports::guestinfo(health, {"0123", 7, samples::kNow}));
  CHECK(value["version"] == 1);
  CHECK(value["updateCounter"] == 7);
  CHECK(value["bootId"] == "0123");
  CHECK(value["publishTime"] == wall_time(samples::kNow.boot, samples::kNow));
  CHECK(value["state"] == "failed");
  CHECK(value["adapters"][0]["function"] == "0000:1b:00.1");
  CHECK(value["findings"].size() == health.findings.size());
  CHECK(!value.contains("left_off"));

  Health many = health;
  many.findings.assign(500, health.findings.front());
  many.adapters.assign(100, health.adapters.front());
  const std::string text = exports::guestinfo(many, {"0123", 7, samples::kNow});
  CHECK(text.size() <= exports::kGuestinfoLimitBytes);
  CHECK(text.size() > exports::kGuestinfoLimitBytes - 200);
  const Json cut = Json::parse(text);
  CHECK(cut["left_off"] == 600 - cut["findings"].size() - cut["adapters"].size());
  many.adapters.front().adapter.function.assign(10'000, 'x');
  CHECK(exports::guestinfo(many, {}).size() <= exports::kGuestinfoLimitBytes);
}

TEST_CASE("export: each format is printed; without an agent that is said") {
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

TEST_CASE("export: what does not go together is said") {
  const Place place;
  ExportOptions options;
  options.watch = true;
  CHECK(has(place.run(options).err, "--watch goes only with --output or --publish"));
  options.publish = true;
  const fake::Printed published = place.run(options);
  CHECK(published.code == 3);
  CHECK(has(published.err, "--publish is for guestinfo"));
}

TEST_CASE("export: the file goes with the devices, and not with the agent") {
  const Place place;
  {
    const fake::Agent agent = place.agent(samples::ready());
    CHECK(place.run(place.to_file()).code == 0);
    CHECK(Json::parse(read_file(place.file).value())["devices"].size() == 2);
  }
  ExportOptions watching = place.to_file();
  watching.watch = true;
  watching.pace = {Milliseconds{2000}, Milliseconds{10}, 1};
  CHECK(place.run(watching).code == 0);  // nobody answers
  CHECK(place.is_written());
  std::filesystem::remove(place.socket);
  const fake::Agent agent{place.socket, {{"WatchHealth", fake::streams({without_device()})}}};
  CHECK(place.run(watching).code == 0);
  CHECK(!place.is_written());
  CHECK(place.run(watching).code == 0);  // there is none to remove
}

TEST_CASE("export: a device file is left alone") {
  const Place place;
  const fake::Agent agent = place.agent(samples::ready());
  std::filesystem::create_symlink("/dev/null", place.file);
  const fake::Printed printed = place.run(place.to_file());
  CHECK(printed.code == 3);
  CHECK(has(printed.err, "it is no regular file"));
}

TEST_CASE("export: the host is told by vmware-rpctool, or by vmtoolsd") {
  const Place place;
  const Tools tools{place.directory};
  const fake::Agent agent = place.agent(samples::ready());
  SECTION("the one") { tools.add_host(); }
  SECTION("the other, where the one is refused") {
    tools.add("vmware-rpctool", "echo Failed sending message to VMware.; exit 1");
    tools.add_host("vmtoolsd");
  }
  SECTION("the other, where the one hangs") {
    tools.add("vmware-rpctool", "exec sleep 60");
    tools.add_host("vmtoolsd");
  }
  CHECK(place.run(publishing()).code == 0);
  const auto asked = tools.asked();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0]["state"] == "ready");
  CHECK(asked[0]["updateCounter"] == 1);
}

TEST_CASE("export: a host that refuses is said, with what both said") {
  const Place place;
  const Tools tools{place.directory};
  tools.add("vmware-rpctool", "echo Permission denied; exit 1");
  tools.add("vmtoolsd", "echo vmtoolsd is no; exit 2");
  const fake::Printed printed = place.run(publishing());
  CHECK(printed.code == 3);
  CHECK(has(printed.err, "vmware-rpctool: status 1: Permission denied"));
  CHECK(has(printed.err, "vmtoolsd: status 2: vmtoolsd is no"));
}

TEST_CASE("export: the host is told of a change, and from time to time that we live") {
  const Place place;
  const Tools tools{place.directory};
  tools.add_host();
  ExportOptions options = publishing();
  options.watch = true;
  options.pace = {Milliseconds{300}, Milliseconds{0}, 4};
  Json changed = samples::ready();
  changed["state"] = "degraded";
  SECTION("not of what is as it was") {
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
  SECTION("of an agent that is not there") {
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
