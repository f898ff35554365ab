// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/seal/template.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/survey/recipe.hpp"
#include "probes/initramfs.hpp"
#include "probes/module_lookup.hpp"

namespace pvrdma::probes {

namespace {

struct Place {
  const char* directory;
  const char* prefix;
  const char* suffix;
};

constexpr const char* kNetworkd = "/etc/systemd/network";
// Folders where distributions keep the configuration of links.
constexpr std::array kPlaces{
    Place{"/etc/netplan", "", ".yaml"},
    Place{"/etc/NetworkManager/system-connections", "", ""},
    Place{"/etc/sysconfig/network-scripts", "ifcfg-", ""},
    Place{"/etc/sysconfig/network", "ifcfg-", ""},
    Place{kNetworkd, "", ".link"},
    Place{kNetworkd, "", ".network"},
    Place{kNetworkd, "", ".netdev"},
    Place{"/etc/udev/rules.d", "", ".rules"},
    Place{"/etc/network", "interfaces", ""},
    Place{"/etc/network/interfaces.d", "", ""},
    // Installers leave the network here (subiquity: 90-installer-network.cfg).
    Place{kCloudSettings, "", ".cfg"},
};
// Every system has these two addresses.
constexpr std::array kCommonMacs{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"};

bool is_uuid(std::string_view word) {
  return has_form(word, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
}

// `addresses`: as parse_interface_address() writes them.
bool is_one_of(const std::vector<std::string>& addresses, const std::string& word) {
  const auto address = parse_interface_address(word);
  return address && contains(addresses, address->text);
}

// Tells for each line whether it belongs to an item "type: nameserver" of a list. cloud-init's
// version 1 has the address of a name server under the same key as that of an interface, before
// the type or behind it.
std::vector<bool> lines_of_name_servers(std::string_view text) {
  struct Item {
    std::size_t column;  // of its keys
    std::size_t number;
  };
  std::vector<bool> serves{false};  // each item; number 0 has the lines that belong to none
  std::vector<std::size_t> item_of;
  std::vector<Item> open;
  while (!text.empty()) {
    const std::string_view line = cut(text, '\n');
    const std::size_t column = std::min(line.find_first_not_of(" -"), line.size());
    item_of.push_back(0);
    if (column == line.size() || line[column] == '#') continue;
    const bool begins = line.substr(0, column).find('-') != line.npos;
    while (!open.empty() &&
           (open.back().column > column || (begins && open.back().column == column)))
      open.pop_back();
    if (open.empty() || open.back().column < column) {
      open.push_back({column, serves.size()});
      serves.push_back(false);
    }
    item_of.back() = open.back().number;
    if (line.substr(column).starts_with("type: nameserver")) serves[open.back().number] = true;
  }
  std::vector<bool> lines;
  lines.reserve(item_of.size());
  for (const std::size_t item : item_of) lines.push_back(serves[item]);
  return lines;
}

void scan_line(const std::string& path, unsigned number, std::string_view line,
               const std::vector<std::string>& addresses, bool of_name_server,
               std::vector<Trace>& into) {
  constexpr std::string_view kBetween = " \t\r\"'=,;[]{}";
  const auto is_ipv4 = [](const std::string& word) {
    return !is_ipv6(word) && parse_interface_address(word);
  };
  // These keys of ifupdown, ifcfg (with any number) and cloud-init have the prefix length
  // elsewhere.
  constexpr std::string_view kBeforeKey = " \t\r\"'=,;[]{}-";
  const std::string_view key =
      line.substr(std::min(line.find_first_not_of(kBeforeKey), line.size()));
  const bool bare = !of_name_server && (key.starts_with("IPADDR") ||
                                        key.substr(0, key.find_first_of(" \t:")) == "address");
  for (std::size_t at = 0; (at = line.find_first_not_of(kBetween, at)) < line.size();) {
    std::string what{line.substr(at, line.find_first_of(kBetween, at) - at)};
    at += what.size();
    if (what.ends_with(':')) what.pop_back();  // netplan: an address with a lifetime
    std::string colons = what;
    std::replace(colons.begin(), colons.end(), '-', ':');
    if (const auto mac = mac_address(colons)) {
      if (!contains(kCommonMacs, *mac)) into.push_back({TraceKind::Mac, path, number, what});
    } else if (is_uuid(what)) {
      into.push_back({TraceKind::Uuid, path, number, what});
    } else if (is_ipv4(what) || (bare && is_ipv4(what + "/32")) || is_one_of(addresses, what)) {
      into.push_back({TraceKind::Address, path, number, what});
    }
  }
}

class TraceSearch {
 public:
  TraceSearch(const Root& root, const Config& config, const std::vector<std::string>& files,
              const std::string& module_lookup)
      : root_(root), config_(config), files_(files), module_lookup_(module_lookup) {}

  Traces run() {
    look_at_configuration();
    look_at_networks();
    look_at_machine_id();
    look_at_initramfs_images();
    look_at_recipe();
    return std::move(traces_);
  }

 private:
  // The value that was read. Empty: it is absent, or unreadable, which is noted.
  template <typename T>
  T what_is_there(Result<T> read) {
    if (read) return std::move(*read);
    if (!means_absent(read.error())) traces_.unreadable.push_back(read.error());
    return {};
  }
  std::string text_of(const std::string& path) { return what_is_there(read_file(root_ / path)); }
  std::vector<std::string> names_in(const std::string& directory) {
    return what_is_there(list_directory(root_ / directory));
  }

  // The agent's configuration has been parsed already: a MAC or an address in it is a real one.
  void look_at_configuration() {
    std::vector<std::string> addresses;
    for (const AdapterConfig& entry : config_.adapters)
      addresses.insert(addresses.end(), entry.addresses.begin(), entry.addresses.end());
    for (const std::string& file : files_)
      for (Trace& trace : traces_in(file, text_of(file), addresses)) {
        const bool is_mac = trace.kind == TraceKind::Mac;
        if (!is_mac && !is_one_of(addresses, trace.what)) continue;
        trace.kind = is_mac ? TraceKind::AgentMac : TraceKind::AgentAddress;
        traces_.found.push_back(std::move(trace));
      }
  }

  void look_at_networks() {
    for (const Place& place : kPlaces) look_at_folder(place.directory, place.prefix, place.suffix);
    // Drop-ins: "10-rdma.network.d/override.conf"
    for (const std::string& name : names_in(kNetworkd))
      for (const char* const kind : {".link.d", ".network.d", ".netdev.d"})
        if (name.ends_with(kind)) look_at_folder(std::string{kNetworkd} + "/" + name, "", ".conf");
  }

  void look_at_folder(const std::string& directory, const char* prefix, const char* suffix) {
    for (const std::string& name : names_in(directory)) {
      const std::string path = directory + "/" + name;
      if (!name.starts_with(prefix) || !name.ends_with(suffix) || name == "ifcfg-lo") continue;
      const auto status = status_of(root_ / path);
      if (status && !S_ISREG(status->st_mode)) continue;
      auto found = traces_in(path, text_of(path));
      // Here a UUID is no profile's, but an instance's or a file system's.
      if (path.starts_with(kCloudSettings))
        std::erase_if(found, [](const Trace& one) { return one.kind == TraceKind::Uuid; });
      traces_.found.insert(traces_.found.end(), found.begin(), found.end());
    }
  }

  // machine-id(5): a clone makes its own where the file is empty or says "uninitialized".
  void look_at_machine_id() {
    std::string id = text_of("/etc/machine-id");
    id.erase(std::find(id.begin(), id.end(), '\n'), id.end());
    if (!id.empty() && id != "uninitialized")
      traces_.found.push_back({TraceKind::MachineId, "/etc/machine-id", 0, id});
  }

  void look_at_initramfs_images() {
    for (const std::string& release : names_in("/lib/modules")) {
      const auto image = look_at_initramfs(root_, release);
      if (const Error* error = image.error())
        traces_.unreadable.push_back(*error);
      else if (image.is_known() && !image.get()->older_than.empty() && may_ship_driver(release))
        traces_.found.push_back(
            {TraceKind::Initramfs, image.get()->path, 0, image.get()->older_than});
    }
  }

  // An image of a kernel without the driver cannot load it out of order, and refresh-initramfs
  // leaves such an image alone.
  [[nodiscard]] bool may_ship_driver(const std::string& release) const {
    return !look_up_shipped(module_lookup_, root_, release, {kDriverModule})
                .front()
                .shipped.is(Shipped::Missing);
  }

  void look_at_recipe() {
    const Recipe recipe = find_whole_recipe(root_, recipe_scope(root_, config_));
    for (const RecipeFile& file : recipe.files)
      for (const RecipeLine& line : file.lines)
        if (file.in_effect && is_of_recipe(line)) {
          traces_.found.push_back({TraceKind::Recipe, file.path, line.number, line.text});
          break;
        }
    append(traces_.unreadable, unread_files(recipe));
  }

  const Root& root_;
  const Config& config_;
  const std::vector<std::string>& files_;
  const std::string& module_lookup_;
  Traces traces_;
};

}  // namespace

std::vector<Trace> traces_in(const std::string& path, std::string_view text,
                             const std::vector<std::string>& addresses) {
  const std::vector<bool> of_name_server = lines_of_name_servers(text);
  std::vector<Trace> found;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::string_view line = cut(text, '\n');
    const auto first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && line[first] != '#' && line[first] != ';')
      scan_line(path, number, line.substr(0, line.find(" #")), addresses,
                of_name_server[number - 1], found);
  }
  return found;
}

Traces find_traces(const Root& root, const Config& config, const std::vector<std::string>& files,
                   const std::string& module_lookup) {
  return TraceSearch{root, config, files, module_lookup}.run();
}

}  // namespace pvrdma::probes
