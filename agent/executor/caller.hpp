// Who may call the executor beside root: the owner of its socket, which the socket unit gives to
// the agent's user (SocketUser=), so that no look into the user database is needed.
#pragma once

#include <sys/types.h>

#include "agent/base/error.hpp"
#include "agent/base/rooted_path.hpp"

namespace pvrdma::executor {

// The owner of the socket at that place. EPERM or ELOOP where anybody but root could have put it
// there: whoever can, could choose who is served. ENOTSOCK: something else is there.
[[nodiscard]] Result<uid_t> owner_of(const RootedPath& place);

// The same of the place that a socket is bound to.
[[nodiscard]] Result<uid_t> owner_of(int socket);

}  // namespace pvrdma::executor
