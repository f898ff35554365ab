#include "agent/tools/seal/template.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "probes/initramfs.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::probes {

namespace {

struct Place {
  const char* directory;
  const char* prefix;
  const char* suffix;
};

// Where distributions keep the configuration of links.
constexpr std::array kPlaces{
    Place{"/etc/netplan", "", ".yaml"},
    Place{"/etc/NetworkManager/system-connections", "", ""},
    Place{"/etc/sysconfig/network-scripts", "ifcfg-", ""},
    Place{"/etc/sysconfig/network", "ifcfg-", ""},
    Place{"/etc/systemd/network", "", ".link"},
    Place{"/etc/systemd/network", "", ".network"},
    Place{"/etc/udev/rules.d", "", ".rules"},
    Place{"/etc/network", "interfaces", ""},
    Place{"/etc/network/interfaces.d", "", ""},
};
// Every system has them.
constexpr std::array kNobodys{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"};

// Whether `text` has the form: h a hex digit, : a colon or dash, - a dash; and ends there.
bool has_form(std::string_view text, std::string_view form) {
  if (text.size() < form.size()) return false;
  for (std::size_t at = 0; at < form.size(); ++at) {
    const char letter = text[at];
    const bool fits = form[at] == 'h'   ? is_hex(letter)
                      : form[at] == ':' ? letter == ':' || letter == '-'
                                        : letter == '-';
    if (!fits) return false;
  }
  return text.size() == form.size() || (!is_hex(text[form.size()]) && text[form.size()] != ':');
}

// "192.168.30.201/24" at the beginning; with `bare`, also without the prefix length.
std::size_t ipv4_length(std::string_view text, bool bare) {
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at >= text.size() || text[at++] != '.')) return 0;
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == begin || at - begin > 3) return 0;
  }
  if (at + 1 < text.size() && text[at] == '/' && is_digit(text[at + 1])) {
    ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
  }
  return bare ? at : 0;
}

void scan_line(const std::string& path, unsigned number, std::string_view line,
               std::vector<Trace>& into) {
  constexpr std::string_view kMac = "hh:hh:hh:hh:hh:hh";
  constexpr std::string_view kUuid = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (at > 0 && (is_hex(line[at - 1]) || line[at - 1] == ':' || line[at - 1] == '.')) continue;
    const std::string_view rest = line.substr(at);
    TraceKind kind = TraceKind::Mac;
    std::size_t length = 0;
    if (has_form(rest, kUuid)) {
      kind = TraceKind::Uuid;
      length = kUuid.size();
    } else if (has_form(rest, kMac)) {
      length = kMac.size();
    } else {
      kind = TraceKind::Address;
      const std::string_view before = line.substr(0, at);
      length = ipv4_length(rest, before.find("IPADDR") != std::string_view::npos ||
                                     before.find("address ") != std::string_view::npos);
    }
    if (length == 0) continue;
    std::string what{rest.substr(0, length)};
    at += length - 1;
    if (!contains(kNobodys, what)) into.push_back({kind, path, number, std::move(what)});
  }
}

class TraceSearch {
 public:
  TraceSearch(const Root& root, const Config& config, const std::vector<std::string>& files)
      : root_(root), config_(config), files_(files) {}

  Traces run() {
    look_at_configuration();
    look_at_networks();
    look_at_machine_id();
    look_at_initramfs_images();
    look_at_recipe();
    return std::move(traces_);
  }

 private:
  // What was read; empty: it is not there, or not to be read, which is noted.
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

  // The agent's configuration is good TOML: what stands for a MAC or an address in it is one.
  void look_at_configuration() {
    const auto used = [&](const Trace& trace) {
      return std::ranges::any_of(config_.adapters, [&](const AdapterConfig& entry) {
        return trace.kind == TraceKind::Mac || contains(entry.addresses, trace.what);
      });
    };
    for (const std::string& file : files_)
      for (Trace& trace : traces_in(file, text_of(file))) {
        if (trace.kind == TraceKind::Uuid || !used(trace)) continue;
        trace.kind = trace.kind == TraceKind::Mac ? TraceKind::AgentMac : TraceKind::AgentAddress;
        traces_.found.push_back(std::move(trace));
      }
  }

  void look_at_networks() {
    for (const Place& place : kPlaces) {
      for (const std::string& name : names_in(place.directory)) {
        const std::string path = std::string{place.directory} + "/" + name;
        if (!name.starts_with(place.prefix) || !name.ends_with(place.suffix) || name == "ifcfg-lo")
          continue;
        const auto status = status_of(root_ / path);
        if (status && !S_ISREG(status->st_mode)) continue;
        auto found = traces_in(path, text_of(path));
        traces_.found.insert(traces_.found.end(), found.begin(), found.end());
      }
    }
  }

  // machine-id(5): empty, or "uninitialized", has the clone make its own.
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
      else if (image.is_known() && !image.get()->older_than.empty())
        traces_.found.push_back(
            {TraceKind::Initramfs, image.get()->path, 0, image.get()->older_than});
    }
  }

  void look_at_recipe() {
    RecipeScope scope;
    scope.modules = config_.modules.before;
    Recipe recipe = find_recipe(root_, scope);
    for (const RecipeFile& file : recipe.files)
      for (const RecipeLine& line : file.lines)
        if (runs_at_boot(file) && line.kind == LineKind::Driver) {
          traces_.found.push_back({TraceKind::BootScript, file.path, line.number, line.text});
          break;
        }
    std::ranges::move(recipe.unreadable, std::back_inserter(traces_.unreadable));
  }

  const Root& root_;
  const Config& config_;
  const std::vector<std::string>& files_;
  Traces traces_;
};

}  // namespace

std::vector<Trace> traces_in(const std::string& path, std::string_view text) {
  std::vector<Trace> found;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::string_view line = cut(text, '\n');
    const auto first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && line[first] != '#' && line[first] != ';')
      scan_line(path, number, line.substr(0, line.find(" #")), found);
  }
  return found;
}

Traces find_traces(const Root& root, const Config& config, const std::vector<std::string>& files) {
  return TraceSearch{root, config, files}.run();
}

}  // namespace pvrdma::probes
