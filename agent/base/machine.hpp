// Which machine this is, and which of its boots (sd-id128(3)).
#pragma once

#include <string>

namespace pvrdma {

// 32 hexadecimal digits; empty: the kernel does not say.
[[nodiscard]] std::string this_boot_id();
// machine-id(5) hashed for this program's use, so that it tells nobody the machine-id itself: 32
// hexadecimal digits; empty: there is none.
[[nodiscard]] std::string this_machine();

}  // namespace pvrdma
