// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/mesh/coordinator.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>

#include "agent/base/format.hpp"
#include "agent/tools/verify/mesh/member.hpp"

namespace pvrdma::verify {

namespace {

constexpr Milliseconds kLineTime = std::chrono::seconds{3};  // limit for receiving a line

struct Member {
  Control control;
  Machine machine;
  std::string lost;  // the reason why the connection is gone
};

class Gathering {
 public:
  Gathering(std::vector<Member> members, const Meeting& meeting)
      : members_(std::move(members)), meeting_(meeting) {
    for (const PairResult& pair : meeting.earlier) earlier_[{pair.from, pair.to}] = pair;
  }

  Mesh run() {
    const auto rounds = schedule(members_.size(), meeting_.rounds);
    for (std::size_t n = 0; n < rounds.size(); ++n) {
      meeting_.tell(formatted("round {} of {}", n + 1, rounds.size()));
      run_round(rounds[n]);
    }
    for (Member& member : members_)
      static_cast<void>(member.control.send({{"end", true}}, BootClock::now() + kLineTime));
    Mesh mesh;
    mesh.size = meeting_.size;
    for (const Member& member : members_) mesh.machines.push_back(member.machine);
    mesh.pairs = std::move(results_);
    return mesh;
  }

 private:
  void run_round(const std::vector<Pairing>& round) {
    std::vector<Pairing> measuring;
    for (const auto& [listener, client] : round)
      if (const PairResult* before = earlier(listener, client))
        results_.push_back(*before);
      else if (start(listener, client))
        measuring.emplace_back(listener, client);
    const BootTime deadline = BootClock::now() + meeting_.round_limit;
    for (const auto& [listener, client] : measuring) finish(listener, client, deadline);
  }

  [[nodiscard]] const PairResult* earlier(std::size_t listener, std::size_t client) const {
    const std::string& one = members_[listener].machine.address;
    const std::string& other = members_[client].machine.address;
    auto at = earlier_.find({other, one});
    if (at == earlier_.end()) at = earlier_.find({one, other});
    return at == earlier_.end() ? nullptr : &at->second;
  }

  void end(std::size_t listener, std::size_t client, const std::optional<PairFigures>& figures,
           std::string failed) {
    results_.push_back({members_[client].machine.address, members_[listener].machine.address,
                        figures, std::move(failed)});
    meeting_.keep(results_.back());
  }

  void tell(std::size_t at, const Json& message) {
    Member& member = members_[at];
    if (auto sent = member.control.send(message, BootClock::now() + kLineTime); !sent)
      member.lost = sent.error().message();
  }

  bool start(std::size_t listener, std::size_t client) {
    if (const auto lost = lost_of(listener, client)) {
      end(listener, client, std::nullopt, *lost);
      return false;
    }
    tell(listener, {{"listen", true}});
    tell(client, {{"connect", members_[listener].machine.address}});
    return true;
  }

  [[nodiscard]] std::optional<std::string> lost_of(std::size_t listener, std::size_t client) const {
    for (const std::size_t at : {listener, client})
      if (!members_[at].lost.empty())
        return members_[at].machine.name + " was lost: " + members_[at].lost;
    return std::nullopt;
  }

  Json answer_of(std::size_t at, BootTime deadline) {
    Member& member = members_[at];
    if (!member.lost.empty()) return Json::object();
    auto answer = member.control.receive(deadline);
    if (answer) return std::move(*answer);
    member.lost = answer.error().message();
    return Json::object();
  }

  void finish(std::size_t listener, std::size_t client, BootTime deadline) {
    const Json found = answer_of(client, deadline);
    const Json served = answer_of(listener, deadline);
    if (auto figures = pair_figures_from(found.value("figures", Json{}))) {
      end(listener, client, *figures, "");
      return;
    }
    std::string failed = text_in(found, "failed");
    // Where one machine could not begin, the other one only knows that it waited in vain. Without
    // names equal reasons of several pairs are told once.
    if (const std::string there = text_in(served, "failed"); !there.empty())
      failed += (failed.empty() ? "" : "; ") + ("the listening machine: " + there);
    end(listener, client, std::nullopt,
        lost_of(listener, client).value_or(failed.empty() ? "no figures came" : failed));
  }

  std::vector<Member> members_;
  const Meeting& meeting_;
  std::map<std::pair<std::string, std::string>, PairResult> earlier_;
  std::vector<PairResult> results_;
};

// Reads the first line of a greeted guest, which says which machine it is.
Result<Member> welcome(Reception::Guest guest) {
  if (guest.refused) return fail(std::move(*guest.refused));
  auto machine = machine_from(guest.first);
  if (!machine) return fail(machine.error());
  return Member{std::move(guest.control), std::move(*machine), {}};
}

}  // namespace

std::vector<std::vector<Pairing>> schedule(std::size_t machines, std::size_t rounds_at_most) {
  std::vector<std::vector<Pairing>> rounds;
  if (machines < 2) return rounds;
  // With an odd number there is one empty seat; the machine that meets the empty seat rests.
  const std::size_t seats = machines + machines % 2;
  const std::size_t around = seats - 1;
  for (std::size_t round = 0; round < std::min(around, rounds_at_most); ++round) {
    std::vector<Pairing>& pairs = rounds.emplace_back();
    pairs.reserve(seats / 2);
    const auto add = [&](std::size_t one, std::size_t other) {
      if (std::max(one, other) < machines) pairs.push_back(std::minmax({one, other}));
    };
    add(around, round);
    for (std::size_t step = 1; step < seats / 2; ++step)
      add((round + step) % around, (round + around - step) % around);
  }
  return rounds;
}

Result<Mesh> hold(Reception& reception, const Meeting& meeting) {
  std::vector<Member> members;
  std::string refused;
  const BootTime until = BootClock::now() + meeting.all_come;
  while (members.size() < meeting.size) {
    meeting.tell(formatted("{} of {} machines have come", members.size(), meeting.size));
    auto guest = reception.next(until);
    if (!guest) break;
    auto member = welcome(std::move(*guest));
    if (!member) {
      refused = "; one was refused: " + member.error().message();
      continue;
    }
    const std::string& address = member->machine.address;
    const auto same = std::find_if(members.begin(), members.end(), [&](const Member& one) {
      return one.machine.address == address;
    });
    if (same == members.end())
      members.push_back(std::move(*member));
    else if (!same->control.check_peer())  // the machine was started again
      *same = std::move(*member);
    else
      static_cast<void>(member->control.send(
          {{"refused", "another machine has its address, " + address}}, until));
  }
  if (members.size() < 2)
    return fail(0, formatted("{} of {} machines came", members.size(), meeting.size), refused);
  // Sorted, so that pairs and rounds are the same in whatever order the machines come.
  std::sort(members.begin(), members.end(), [](const Member& one, const Member& other) {
    return std::tie(one.machine.name, one.machine.address) <
           std::tie(other.machine.name, other.machine.address);
  });
  return Gathering{std::move(members), meeting}.run();
}

}  // namespace pvrdma::verify
