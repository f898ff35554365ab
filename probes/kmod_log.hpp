// What libkmod says by itself, beside its return values.
#pragma once

struct kmod_ctx;

namespace pvrdma::probes {

// It goes into our log at level debug, all of it where that is wanted, and never to stderr: what
// matters comes back as a return value too.
void take_over_log(kmod_ctx* context);

}  // namespace pvrdma::probes
