// What initramfs-content gives up before it unpacks an image, which may be anybody's: a fault of
// the unpacking then reaches nothing but the image and the answer.
#pragma once

#include "agent/base/error.hpp"

namespace pvrdma::probes {

// This process keeps what it has open, and can from now on open no file, write none, start no other
// process and gain no rights (setrlimit(2), prctl(2), PR_SET_NO_NEW_PRIVS). Root becomes the user
// nobody, for good. errno of the step that failed; the ones before it stay taken.
[[nodiscard]] Result<void> give_up_rights();

}  // namespace pvrdma::probes
