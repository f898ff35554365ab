// What depmod(8) leaves in the folder of a kernel.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::test {

using namespace std::string_view_literals;

// Magic, version 2.1, no root (libkmod-index.c of kmod 30).
inline constexpr std::string_view kEmptyIndex = "\xB0\x07\xF4\x57\0\x02\0\x01\0\0\0\0"sv;

// The indexes that depmod always writes and a captured folder lacks.
inline void complete_index(const Tree& tree, const std::string& folder) {
  for (const std::string file : {"modules.alias.bin", "modules.symbols.bin"})
    if (!std::filesystem::exists(tree / (folder + "/" + file)))
      tree.file(folder + "/" + file, std::string{kEmptyIndex});
}

// vmw_pvrdma and rdma_cm loadable, vmxnet3 built in (tests/fixtures/module-index).
inline void module_index(const Tree& tree, const std::string& release) {
  const std::string folder = "/lib/modules/" + release;
  tree.directory(folder);
  for (const std::string file : {"modules.dep.bin", "modules.builtin.bin"})
    std::filesystem::copy_file(std::string{places::fixtures} + "/module-index/" + file,
                               tree / (folder + "/" + file));
  complete_index(tree, folder);
}

}  // namespace pvrdma::test
