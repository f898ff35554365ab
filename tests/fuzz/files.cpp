// SPDX-License-Identifier: GPL-2.0-or-later
// Targets for the content of a file, or the kernel's messages.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "agent/base/netlink.hpp"
#include "agent/config/toml_tree.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "agent/tools/migrate/edit.hpp"
#include "agent/tools/migrate/link_settings.hpp"
#include "agent/tools/next_boot/initramfs_content.hpp"
#include "agent/tools/seal/template.hpp"
#include "agent/tools/survey/function_claims.hpp"
#include "agent/tools/survey/link_files.hpp"
#include "agent/tools/survey/machine.hpp"
#include "agent/tools/survey/memlock.hpp"
#include "probes/address_records.hpp"
#include "probes/customization.hpp"
#include "probes/link_owner.hpp"
#include "probes/modprobe_config.hpp"
#include "probes/module_lookup.hpp"
#include "probes/modules.hpp"
#include "probes/netdevs.hpp"
#include "probes/rdma_nldev.hpp"
#include "probes/settings.hpp"
#include "tests/fuzz/target.hpp"

namespace pvrdma::fuzz {

using namespace pvrdma::probes;

void initramfs(std::string_view bytes) {
  const Fd file{::memfd_create("initramfs", MFD_CLOEXEC)};
  if (::pwrite(file.get(), bytes.data(), bytes.size(), 0) < 0) return;
  if (const auto content = read_initramfs(file.get())) {
    const auto again = parse_initramfs_content(print_initramfs_content(*content));
    require(!again || again->modules.size() <= content->modules.size(), "names come back");
  }
}

void netlink(std::string_view bytes) {
  if (bytes.size() < sizeof(nlmsghdr)) return;
  // As a datagram lies in memory: its buffer ends with it, and is aligned.
  std::vector<char> datagram(bytes.begin(), bytes.end());
  datagram.shrink_to_fit();
  nlmsghdr header{};
  std::memcpy(&header, datagram.data(), sizeof header);
  const OnMessage take = [](nlmsghdr& message) -> Result<void> {
    static_cast<void>(parse_nldev_device(message));
    static_cast<void>(parse_nldev_port(message));
    static_cast<void>(parse_nldev_contexts(message));
    static_cast<void>(parse_link(message));
    static_cast<void>(parse_address(message));
    return {};
  };
  AnswerReader reader{header.nlmsg_seq, take};
  static_cast<void>(reader.read(datagram));
  static_cast<void>(reader.verdict());
}

void recipe(std::string_view bytes) {
  using namespace pvrdma::ctl::migration;
  // The first bytes choose a form of RecipeForm, the next netplan.
  constexpr unsigned kForms = static_cast<unsigned>(RecipeForm::Settings) + 1;
  const unsigned choice = take_choice(bytes) % (kForms + 1);
  if (choice == kForms) return static_cast<void>(parse_netplan("file", bytes));
  const RecipeScope scope;
  RecipeFile file;
  file.path = "/etc/rc.local";
  file.in_effect = true;
  file.form = static_cast<RecipeForm>(choice);
  const RecipeLook look = look_at(file.form, bytes, scope);
  const std::string moved = comment_out(bytes, look.lines, file.form);
  if (bytes.find("#pvrdma-agent#") == std::string_view::npos)
    require(put_back(moved) == bytes, "a file comes back byte for byte");
  file.lines = look.lines;
  Recipe found;
  found.files.push_back(file);
  const auto links = find_link_settings(Root{"/nowhere"}, found, scope, Config{});
  // to_toml() tries 64 links at most, and takes longer for these than the rest does for thousands.
  constexpr std::size_t kTried = 64;
  if (links.size() <= kTried)
    require(toml_tree::parse(to_toml(links), "file").has_value(), "what it prints is TOML");
  static_cast<void>(loads_nothing(bytes));
}

// Settings of modprobe.d and of the kernel's command line that block modules and functions.
void look_for_blocks(const std::vector<ModprobeLine>& lines, const std::string& command_line) {
  static_cast<void>(find_module_blocks(lines, command_line, {{"vmw_pvrdma", {"ib_core"}}, {"a"}}));
  static_cast<void>(find_function_claims(lines, command_line));
}

// Small texts of /proc, /run and /etc.
void proc(std::string_view bytes) {
  const unsigned choice = take_choice(bytes);
  const std::string text{bytes};
  switch (choice % 13) {
    case 0:
      return static_cast<void>(parse_proc_modules(bytes));
    case 1: {
      LoginLimits limits;
      return take_limits("file", bytes, limits);
    }
    case 2:
      return static_cast<void>(parse_lookup(bytes, {"a", "b", "c"}));
    case 3:
      static_cast<void>(parse_modprobe_lines(bytes));
      return look_for_blocks(parse_modprobe(bytes), "");
    case 4:
      return look_for_blocks({}, text);
    case 5: {
      const auto records = parse_address_records(bytes);
      return require(parse_address_records(format_address_records(records)) == records,
                     "records come back");
    }
    case 6:
      return static_cast<void>(parse_networkd_link(text));
    case 7:
      return static_cast<void>(parse_interfaces(bytes));
    case 8:
      return static_cast<void>(parse_settings(bytes));
    case 9:
      return static_cast<void>(parse_cloud_init_status(bytes));
    case 10:
      static_cast<void>(parse_driver_complaints(bytes));
      return static_cast<void>(parse_kernel_log(bytes));
    case 11:
      return static_cast<void>(match_netplan(bytes, {"e0", "00:50:56:8a:9f:c2"}));
    default:
      return static_cast<void>(traces_in("/etc/file", bytes));
  }
}

}  // namespace pvrdma::fuzz
