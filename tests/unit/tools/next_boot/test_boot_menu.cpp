// SPDX-License-Identifier: GPL-2.0-or-later
// GRUB's menu in grub-mkconfig's form, its environment, and entries of the Boot Loader
// Specification.
#include "agent/tools/next_boot/boot_menu.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::probes {

namespace {

// The shape of Debian's and Ubuntu's /boot/grub/grub.cfg (GRUB 2.06).
constexpr const char* kMenu = R"(
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="1>2"
fi
function savedefault {
  if [ -z "${boot_once}" ]; then
    saved_entry="${chosen}"
  fi
}
function gfxmode {
	set default="9"
}
menuentry 'Debian GNU/Linux' --class debian --class os $menuentry_id_option 'gnulinux-simple-ab12' {
	load_video
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	echo	'Loading Linux 6.1.0-18-amd64 ...'
	linux	/boot/vmlinuz-6.1.0-18-amd64 root=UUID=ab12 ro  quiet
	initrd	/boot/initrd.img-6.1.0-18-amd64
}
submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-ab12' {
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-18-amd64' --class debian $menuentry_id_option 'gnulinux-6.1.0-18-amd64-advanced-ab12' {
		linux	/boot/vmlinuz-6.1.0-18-amd64 root=UUID=ab12 ro  quiet
	}
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-18-amd64 (recovery mode)' --class debian $menuentry_id_option 'gnulinux-6.1.0-18-amd64-recovery-ab12' {
		linux	/boot/vmlinuz-6.1.0-18-amd64 root=UUID=ab12 ro single
	}
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-13-amd64' --class debian $menuentry_id_option 'gnulinux-6.1.0-13-amd64-advanced-ab12' {
		linux	($root)/vmlinuz-6.1.0-13-amd64 root=UUID=ab12 ro "a b" modprobe.blacklist=vmw_pvrdma
	}
}
menuentry "Memory test > memtest" --id=memtest {
	linux16	/boot/memtest86+.bin
}
)";

std::string kernel_of(const std::string& selection) {
  static const BootMenu menu = parse_grub_menu(kMenu);
  const MenuEntry* entry = find_entry(menu.entries, selection);
  return entry == nullptr ? "" : entry->kernel;
}

}  // namespace

TEST_CASE("GRUB's default is the one set without a next entry, outside of functions") {
  const BootMenu menu = parse_grub_menu(kMenu);
  CHECK(menu.chosen == "1>2");
  CHECK_FALSE(menu.by_spec);
  REQUIRE(menu.entries.size() == 3);
  CHECK(menu.entries[0].title == "Debian GNU/Linux");
  CHECK(menu.entries[0].id == "gnulinux-simple-ab12");
  CHECK(menu.entries[0].options == "root=UUID=ab12 ro quiet");
  CHECK(menu.entries[1].entries.size() == 3);
}

TEST_CASE("an entry is found by number, title and id, within submenus as well") {
  const std::string newest = "/boot/vmlinuz-6.1.0-18-amd64";
  const std::string older = "/vmlinuz-6.1.0-13-amd64";
  CHECK(kernel_of("0") == newest);
  CHECK(kernel_of("Debian GNU/Linux") == newest);
  CHECK(kernel_of("gnulinux-simple-ab12") == newest);
  CHECK(kernel_of("1") == newest);
  CHECK(kernel_of("1>2") == older);
  CHECK(kernel_of("gnulinux-advanced-ab12>gnulinux-6.1.0-13-amd64-advanced-ab12") == older);
  CHECK(kernel_of("Advanced options for Debian GNU/Linux>Debian GNU/Linux, with Linux "
                  "6.1.0-13-amd64") == older);
  CHECK(kernel_of("Memory test > memtest") == "/boot/memtest86+.bin");
  CHECK(kernel_of("memtest") == "/boot/memtest86+.bin");
  CHECK(kernel_of("7").empty());
  CHECK(kernel_of("1>7").empty());
  CHECK(kernel_of("gnulinux-advanced-ab12>nothing").empty());
}

TEST_CASE("`default` may name the saved entry, and blscfg takes entries from elsewhere") {
  const BootMenu menu = parse_grub_menu(
      "if [ \"${next_entry}\" ] ; then\n   set default=\"${next_entry}\"\nelse\n"
      "   set default=\"${saved_entry}\"\nfi\ninsmod blscfg\n");
  CHECK(menu.chosen == "${saved_entry}");
  CHECK_FALSE(menu.by_spec);
  CHECK(parse_grub_menu("insmod blscfg\nblscfg\n").by_spec);
  CHECK(parse_grub_menu("set default=\"${saved_entry}\"\n"
                        "if [ -n \"${boot_counter}\" -a \"${boot_success}\" = \"0\" ]; then\n"
                        "  if  [ \"${boot_counter}\" = \"0\" ]; then\n    set default=1\n"
                        "    set boot_counter=-1\n  else\n    decrement boot_counter\n  fi\n"
                        "  save_env boot_counter\nfi\n")
            .chosen == "${saved_entry}");
  CHECK(parse_grub_menu("set default=1\nset default=\"${next_entry}\"\n").chosen == "1");
  const auto environment = parse_grub_environment(
      "# GRUB=Environment Block\nsaved_entry=ab-5.14.0-362.el9.x86_64\nkernelopts=root=/dev/sda "
      "ro\n######");
  CHECK(environment.at("saved_entry") == "ab-5.14.0-362.el9.x86_64");
  CHECK(environment.at("kernelopts") == "root=/dev/sda ro");
  CHECK(environment.size() == 2);
}

TEST_CASE("a file of the Boot Loader Specification is an entry") {
  const MenuEntry entry = parse_loader_entry(
      "ab-5.14.0-362.el9.x86_64",
      "title Rocky Linux (5.14.0)\nversion 5.14.0-362.el9.x86_64\n# linux /no\n"
      "linux\t/vmlinuz-5.14.0-362.el9.x86_64  \ninitrd /initramfs-5.14.0.img $tuned\n"
      "options root=/dev/sda\noptions ro\n");
  CHECK(entry == MenuEntry{"Rocky Linux (5.14.0)",
                           "ab-5.14.0-362.el9.x86_64",
                           "/vmlinuz-5.14.0-362.el9.x86_64",
                           "root=/dev/sda ro",
                           {}});
}

TEST_CASE("a menu of nested submenus is read to a fixed depth") {
  constexpr int kLines = 20'000;
  std::string text;
  for (int line = 0; line < kLines; ++line) text += "submenu a {\n";
  for (int line = 0; line < kLines; ++line) text += "}\n";
  const BootMenu menu = parse_grub_menu(text + "menuentry b {\nlinux /vmlinuz\n}\n");
  REQUIRE(menu.entries.size() == 2);
  CHECK(menu.entries[1].kernel == "/vmlinuz");
  std::size_t depth = 0;
  for (const MenuEntry* entry = menu.entries.data(); entry != nullptr; ++depth)
    entry = entry->entries.empty() ? nullptr : entry->entries.data();
  CHECK(depth == 16);
}

}  // namespace pvrdma::probes
