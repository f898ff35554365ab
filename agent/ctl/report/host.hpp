// What a machine says of itself that redaction must know beforehand: names have no form.
#pragma once

#include "agent/base/file.hpp"
#include "agent/ctl/report/redactor.hpp"

namespace pvrdma::ctl::bundle {

// Names of the host and its neighbours (hostname, hosts, search domains), login users, machine-id
// and the MACs of all interfaces. By files alone: a name service may hang. What cannot be read is
// passed over.
void learn_host(Redactor& redactor, const Root& root = Root{});

}  // namespace pvrdma::ctl::bundle
