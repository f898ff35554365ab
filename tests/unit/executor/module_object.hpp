// SPDX-License-Identifier: GPL-2.0-or-later
// A relocatable ELF object with the section .modinfo, as kbuild makes it: the only part of a
// module's file that is read besides its signature.
#pragma once

#include <elf.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::test {

// `lines`: "name=…", "vermagic=…". With `is_signed`, a signature without a key is appended in the
// form of the kernel's sign-file script (Linux include/linux/module_signature.h).
inline std::string module_object(const std::vector<std::string>& lines, bool is_signed = false) {
  using namespace std::string_view_literals;
  std::string information;
  for (const std::string& line : lines) information += line + '\0';
  constexpr std::string_view kNames = "\0.modinfo\0.shstrtab\0"sv;
  const auto as_bytes = [](const auto& value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = sizeof header;
  std::array<Elf64_Shdr, 3> sections{};
  const std::size_t content = sizeof header + sizeof sections;
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = content;
  sections[1].sh_size = information.size();
  sections[2].sh_name = 10;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = content + information.size();
  sections[2].sh_size = kNames.size();
  std::string object = as_bytes(header) + as_bytes(sections) + information + std::string{kNames};
  if (!is_signed) return object;
  constexpr char kX509 = 1;  // the usual PKCS#7 would need real contents
  const std::string signature = "signature";
  std::string trailer(12, '\0');
  trailer[2] = kX509;
  trailer[11] = static_cast<char>(signature.size());
  return object + signature + trailer + "~Module signature appended~\n";
}

}  // namespace pvrdma::test
