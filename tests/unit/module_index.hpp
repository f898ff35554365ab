// SPDX-License-Identifier: GPL-2.0-or-later
// The files that depmod(8) leaves in a kernel's folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/unit/places.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::test {

using namespace std::string_view_literals;

// Magic, version 2.1, no root (libkmod-index.c of kmod 30).
inline constexpr std::string_view kEmptyIndex = "\xB0\x07\xF4\x57\0\x02\0\x01\0\0\0\0"sv;

inline std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xffU);
  return bytes;
}

// An index of libkmod (kmod, libkmod/libkmod-index.h): a header and one node, with the key as its
// prefix and one value; or no node.
inline std::string index_of(const std::string& key, const std::string& value) {
  constexpr std::uint32_t kPrefixAndValues = 0xc0000000;
  std::string bytes = big_endian(0xb007f457) + big_endian(0x00020001);
  if (key.empty()) return bytes + big_endian(0);
  bytes += big_endian(kPrefixAndValues | 12U);
  bytes += key + '\0' + big_endian(1) + big_endian(0) + value + '\0';
  return bytes;
}

// Adds the indexes that depmod always writes and a captured folder lacks.
inline void complete_index(const Tree& tree, const std::string& folder) {
  for (const std::string file : {"modules.alias.bin", "modules.symbols.bin"})
    if (!std::filesystem::exists(tree / (folder + "/" + file)))
      tree.file(folder + "/" + file, std::string{kEmptyIndex});
}

// A kernel in /lib that ships one module, whose file is not a module, and a configuration in /conf.
inline void ship_module(const Tree& tree, const std::string& name) {
  tree.file("/lib/modules.dep.bin", index_of(name, "kernel/" + name + ".ko:"));
  for (const char* empty : {"alias", "symbols", "builtin", "builtin.alias"})
    tree.file("/lib/modules." + std::string{empty} + ".bin", index_of("", ""));
  tree.file("/lib/kernel/" + name + ".ko", "not a module\n");
  tree.file("/conf/empty.conf", "");
}

// vmw_pvrdma and rdma_cm loadable, vmxnet3 built in (tests/fixtures/module-index).
inline void module_index(const Tree& tree, const std::string& release) {
  const std::string folder = "/lib/modules/" + release;
  tree.directory(folder);
  for (const std::string file : {"modules.dep.bin", "modules.builtin.bin"})
    std::filesystem::copy_file(std::string{places::fixtures} + "/module-index/" + file,
                               tree / (folder + "/" + file));
  tree.file(folder + "/modules.dep",
            "kernel/net/rdma_cm.ko.xz: kernel/core/ib-core.ko.xz\n"
            "kernel/net/vmw_pvrdma.ko: kernel/core/ib_uverbs.ko kernel/core/ib_core.ko\n");
  complete_index(tree, folder);
}

}  // namespace pvrdma::test
