// SPDX-License-Identifier: GPL-2.0-or-later
// The judgement of a forecast's agent, links, limits and scripts.
#include "tests/unit/tools/next_boot/good_forecast.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE_METHOD(GoodForecast, "next boot: the agent does not start") {
  const auto summary = [&] {
    const NextBoot outcome = judged();
    CHECK(check(outcome.machine, "agent").outlook == Outlook::No);
    for (const Finding& one : outcome.findings)
      if (one.id == FindingId::AgentNotEnabled) return one.summary;
    return std::string{};
  };
  ahead.agent.get()->enabled = false;
  CHECK(summary().find("not enabled") != std::string::npos);
  ahead.agent.get()->masked = true;
  CHECK(summary().find("is masked") != std::string::npos);
  ahead.agent = {};
  CHECK(summary().find("not installed") != std::string::npos);
  // Then no program brings the link up.
  CHECK(ids(judged()) == Ids{FindingId::AgentNotEnabled, FindingId::LinkUnowned});
  ahead.agent = GoodForecast{}.ahead.agent;
  ahead.executor.get()->masked = true;
  CHECK(summary().find("executor.socket is masked") != std::string::npos);
  ahead.agent = Field<UnitFile>::unreadable(kDenied);
  CHECK(check(judged().machine, "agent").outlook == Outlook::Unknown);
  CHECK(judged().unreadable.size() == 1);
}

TEST_CASE_METHOD(GoodForecast, "next boot: the link's owner") {
  LinkForecast& link = ahead.links.front();
  const auto says = [&] { return check(judged().machine, "link"); };
  CHECK(says().says == "ens224f0 (0000:13:00.1): this agent");
  link.addressed = false;
  REQUIRE(ids(judged()) == Ids{FindingId::LinkUnowned});
  CHECK(judged().findings.front().severity == Severity::Info);
  CHECK(judged().findings.front().adapter == "0000:13:00.1");
  link.owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  CHECK(judged().findings.empty());
  CHECK(says().says == "ens224f0 (0000:13:00.1): this agent, unless it is taken by NetworkManager");
  link.owner = LinkOwner{LinkManager::Ifupdown, false, "/etc/network/interfaces"};
  CHECK(ids(judged()) == Ids{FindingId::LinkUnowned});
  CHECK(says().says ==
        "ens224f0 (0000:13:00.1): ifupdown, by /etc/network/interfaces, does not start it: there "
        "is no `auto` or `allow-hotplug`");
  CHECK(says().outlook == Outlook::No);
  link.owner = LinkOwner{LinkManager::Networkd, true, "/etc/x.network"};
  CHECK(says().says == "ens224f0 (0000:13:00.1): systemd-networkd, by /etc/x.network");
  CHECK(says().outlook == Outlook::Yes);
  link.manage = Manage::Agent;
  CHECK(says().says ==
        "ens224f0 (0000:13:00.1): this agent, and systemd-networkd, by /etc/x.network");
}

TEST_CASE_METHOD(GoodForecast, "next boot: the link has no owner, or that is not known") {
  LinkForecast& link = ahead.links.front();
  link.manage = Manage::Observe;
  REQUIRE(ids(judged()) == Ids{FindingId::LinkUnowned});
  CHECK(judged().findings.front().severity == Severity::Warning);
  CHECK(check(judged().machine, "link").outlook == Outlook::No);
  link.owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  CHECK(judged().findings.empty());
  CHECK(check(judged().machine, "link").outlook == Outlook::Unknown);
  link.owner = Field<LinkOwner>::unreadable(kDenied);
  CHECK(judged().unreadable.size() == 1);
  // A link that is not of a function in this machine has no adapter.
  link = {"mac = \"00:50:56:8a:9f:c2\"", "", "00:50:56:8a:9f:c2", Manage::Observe, false, {}};
  CHECK_FALSE(judged().findings.front().adapter.has_value());
}

TEST_CASE_METHOD(GoodForecast, "next boot: limits of locked memory") {
  ahead.login_memlock = MemlockLimit{std::uint64_t{8} << 20U, "systemd's default"};
  ahead.unit_memlocks = {{"slurmd.service", MemlockLimit{65536U, "/x:2"}},
                         {"big.service", MemlockLimit{kLargeMemlockBytes, ""}},
                         {"none.service", {}},
                         {"closed.service", Field<MemlockLimit>::unreadable(kDenied)}};
  const NextBoot outcome = judged();
  CHECK(ids(outcome) == Ids{FindingId::MemlockLow, FindingId::MemlockLow, FindingId::NoSuchUnit});
  CHECK(outcome.findings[0].severity == Severity::Info);
  CHECK(outcome.findings[0].values.at("limit") == "8 MiB");
  CHECK(outcome.findings[1].severity == Severity::Warning);
  CHECK(outcome.findings[1].values.at("limit") == "64 KiB");
  CHECK(outcome.findings[1].values.at("unit") == "slurmd.service");
  CHECK(outcome.unreadable.size() == 1);
}

TEST_CASE_METHOD(GoodForecast, "next boot: the limit of logins is PID 1's, which is not known") {
  ahead.login_memlock = {};
  CHECK(judged().findings.empty());
  CHECK(check(judged().machine, "memlock").outlook == Outlook::Unknown);
}

TEST_CASE_METHOD(GoodForecast, "next boot: a script that reloads the driver as well") {
  ahead.boot_scripts = {{"/etc/rc.local", false}};
  CHECK(ids(judged()) == Ids{FindingId::BootScript});
}
