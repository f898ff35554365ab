// SPDX-License-Identifier: GPL-2.0-or-later
// doctor's verdict, and who has to act, where the ports are not ACTIVE or no agent answers.
#include "agent/model/catalogue.hpp"
#include "agent/tools/doctor/examination.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/text.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using test::adapter;
using test::has;
using test::rdma;

namespace {

// Two adapters with ACTIVE ports.
Examination examined(State state, bool by_agent) {
  Examination examination;
  examination.snapshot = test::ready_scene(2);
  examination.state = state;
  examination.by_agent = by_agent;
  return examination;
}

std::string headline(const Examination& examination) {
  const std::string text = render_examination(examination, Style{});
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("without an ACTIVE port RDMA is not usable, whatever may still come") {
  for (const bool by_agent : {false, true}) {
    for (const State state : {State::Converging, State::Degraded}) {
      Examination examination = examined(state, by_agent);
      adapter(examination.snapshot, 0).rdma_device = {};
      CHECK(usable(examination) == Usable::WithWarnings);  // the other adapter works
      rdma(examination.snapshot, 1).port.state = PortState::Down;
      CHECK(usable(examination) == Usable::No);
      CHECK(headline(examination) == std::string{"NOT USABLE  the state is "} + to_string(state));
    }
  }
}

TEST_CASE("a port that could not be read may be ACTIVE") {
  Examination examination = examined(State::Degraded, true);
  adapter(examination.snapshot, 0).rdma_device = {};
  rdma(examination.snapshot, 1).port.state = Field<PortState>::unreadable({5, "reading", "state"});
  CHECK(usable(examination) == Usable::WithWarnings);
  adapter(examination.snapshot, 1).rdma_device =
      Field<RdmaDevice>::unreadable({5, "reading", "device"});
  CHECK(usable(examination) == Usable::WithWarnings);
}

TEST_CASE("an agent that says ready has seen the port later than doctor") {
  Examination examination = examined(State::Ready, true);
  for (const unsigned at : {0U, 1U}) rdma(examination.snapshot, at).port.state = PortState::Init;
  CHECK(usable(examination) == Usable::Yes);
}

TEST_CASE("without an agent nothing goes on by itself") {
  Examination examination = examined(State::Degraded, false);
  examination.findings = {make_finding(FindingId::NetdevLost, {}, {}, "0000:00:10.1"),
                          make_finding(FindingId::AgentNotRunning, {}, {})};
  CHECK(next_move(examination) == Actor::Guest);
  CHECK(has(headline(examination), "next move: yours, in this guest"));
  examination.by_agent = true;
  CHECK(next_move(examination) == Actor::Agent);
  // A container's agent runs outside of it, and may not be reachable.
  examination.by_agent = false;
  examination.survey.container = std::string{"docker"};
  CHECK(next_move(examination) == Actor::Agent);
}
