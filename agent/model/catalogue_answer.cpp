// SPDX-License-Identifier: GPL-2.0-or-later
// Findings that pvrdma-agentctl makes itself: why it has no answer of the agent to show. Their
// sentences have no full stop, as they are parts of one line.
#include "agent/model/catalogue.hpp"

namespace pvrdma {

namespace {

constexpr CatalogueEntry kAnswerEntries[] = {
    {FindingId::AgentNotRunning, "agent-not-running", "", "", Severity::Error, Actor::Guest,
     Concern::None, "pvrdma-agent is not running (no process listens on {socket})",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAnswering, "agent-not-answering", "silent", "", Severity::Error,
     Actor::Guest, Concern::None, "pvrdma-agent is running but does not answer",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAnswering, "agent-not-answering", "hung-up", "", Severity::Error,
     Actor::Guest, Concern::None, "pvrdma-agent hung up without an answer",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAnswering, "agent-not-answering", "error", "", Severity::Error,
     Actor::Guest, Concern::None, "cannot talk to pvrdma-agent: {error}",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAccessible, "agent-not-accessible", "", "", Severity::Error, Actor::Guest,
     Concern::None, "no permission to open the socket of pvrdma-agent: {socket}",
     "By default all users may open it; check the permissions of that file and its directory, and "
     "what SELinux or AppArmor denies"},
    {FindingId::AgentBadAnswer, "agent-bad-answer", "", "", Severity::Error, Actor::Guest,
     Concern::None, "pvrdma-agent gave an answer that cannot be understood: {error}",
     "Is pvrdma-agentctl of the same version? systemctl status pvrdma-agent"},
    {FindingId::ReloadNotFinished, "reload-not-finished", "", "", Severity::Error, Actor::Guest,
     Concern::None, "the reload has not finished within {limit}",
     "It still goes on. See: pvrdma-agentctl health"},
};

}  // namespace

std::span<const CatalogueEntry> answer_findings() { return kAnswerEntries; }

}  // namespace pvrdma
