// libibverbs, its provider for vmw_pvrdma, and traces of a vendor's OFED, which brings its own
// libibverbs without that provider. Looks at files only: nothing is loaded or run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::probes {

// The largest N of "IBVERBS_PRIVATE_N" in a library's content: the symbol version that its
// providers are linked against. Absent: there is none.
[[nodiscard]] Field<unsigned> private_abi_in(std::string_view library);

// N of "libvmw_pvrdma-rdmavN.so"; absent: another name.
[[nodiscard]] Field<unsigned> private_abi_of_provider(std::string_view file_name);

// Packages of RDMA libraries in dpkg's status file whose version is a vendor's ("51mlnx1-…"), as
// "libibverbs1 51mlnx1-1.51258".
[[nodiscard]] std::vector<std::string> vendor_packages(std::string_view dpkg_status);

// In the order of the dynamic linker (ld.so(8)): `library_path` (LD_LIBRARY_PATH), the folders of
// /etc/ld.so.conf and what it includes, its own.
[[nodiscard]] Field<Libraries> look_at_verbs_libraries(const Root& root,
                                                       std::string_view library_path);

}  // namespace pvrdma::probes
