#include "probes/recipe/steps.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "probes/modules.hpp"

namespace pvrdma::probes {

namespace {

using Words = std::span<const std::string>;
using Kind = Judgement::Kind;

template <typename List>
bool one_of(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

Judgement recipe(RecipeStep step) { return {Kind::Recipe, {step}, {}, {}}; }

// Modules that come with vmw_pvrdma or with rdma_ucm, whatever the configuration says.
constexpr std::array kDependencies{"ib_core", "ib_uverbs", "ib_cm", "iw_cm", "ib_mad"};
constexpr const char* kDriver = "vmw_pvrdma";

bool is_predecessor(const std::string& module, const RecipeScope& scope) {
  return one_of(kDependencies, module) ||
         std::any_of(scope.modules.begin(), scope.modules.end(),
                     [&](const std::string& one) { return module_name(one) == module; });
}

// "/lib/modules/…/vmw_pvrdma.ko.xz" -> "vmw_pvrdma"
std::string module_of(const std::string& word) {
  const std::string name = base_name(word);
  return module_name(name.substr(0, name.find(".ko")));
}

Judgement judge_modules(Words words, bool removes, const RecipeScope& scope) {
  Judgement result{Kind::Recipe, {}, {}, {}};
  for (const std::string& word : words) {
    if (is_option(word)) {
      const bool short_r = word[1] != '-' && word.find('r') != std::string::npos;
      removes = removes || short_r || word == "--remove";
      continue;
    }
    const std::string module = module_of(word);
    if (module == kDriver)
      result.steps.push_back(removes ? RecipeStep::UnloadDriver : RecipeStep::LoadDriver);
    else if (is_predecessor(module, scope))
      result.steps.push_back(removes ? RecipeStep::UnloadDriver : RecipeStep::LoadModule);
    else
      result.kind = Kind::Other;
  }
  if (result.steps.empty()) result.kind = Kind::Other;
  return result;
}

Judgement judge_service(const std::string& verb, const std::string& unit) {
  constexpr std::array kVerbs{"start", "restart", "reload", "force-restart"};
  constexpr std::array kUnits{"openibd", "rdma", "openibd.service", "rdma.service"};
  return one_of(kVerbs, verb) && one_of(kUnits, unit) ? recipe(RecipeStep::RestartStack)
                                                      : Judgement{};
}

// The bits of "255.255.255.0".
std::optional<unsigned> prefix_of(const std::string& netmask) {
  unsigned bits = 0;
  std::string_view rest = netmask;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    unsigned value = 0;
    if (std::from_chars(part.data(), part.data() + part.size(), value).ec != std::errc{} ||
        value > 255)
      return std::nullopt;
    for (; value != 0; value = (value << 1U) & 255U) ++bits;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return bits;
}

// What a line about a link asks for.
struct LinkWish {
  std::vector<std::string> addresses;
  std::vector<unsigned> mtus;
  bool understood = true;
};

Judgement judge_wish(const LinkWish& wish, const RecipeScope& scope) {
  if (!wish.understood) return {};
  if (wish.addresses.empty() && wish.mtus.empty()) return recipe(RecipeStep::BringLinkUp);
  Judgement result{Kind::Recipe, {RecipeStep::SetLink}, {}, {}};
  const auto lack = [&](const std::string& line) {
    result.kind = Kind::Other;
    result.missing += (result.missing.empty() ? "" : ", ") + line;
  };
  for (const std::string& address : wish.addresses)
    if (!one_of(scope.addresses, address)) lack("addresses = [\"" + address + "\"]");
  for (const unsigned mtu : wish.mtus)
    if (std::find(scope.mtus.begin(), scope.mtus.end(), mtu) == scope.mtus.end())
      lack("mtu = " + std::to_string(mtu));
  return result;
}

void wish_mtu(const std::string& word, LinkWish& wish) {
  unsigned mtu = 0;
  const auto end = word.data() + word.size();
  if (const auto read = std::from_chars(word.data(), end, mtu);
      read.ec == std::errc{} && read.ptr == end)
    wish.mtus.push_back(mtu);
  else
    wish.understood = false;
}

// ifconfig NETDEV [ADDRESS[/BITS]] [netmask MASK] [mtu N] [broadcast B] [up]
Judgement judge_ifconfig(Words words, const RecipeScope& scope) {
  if (words.size() < 2 || !one_of(scope.netdevs, words[0])) return {};
  LinkWish wish;
  std::string address;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    const bool has_value = at + 1 < words.size();
    if (word == "up") continue;
    if (word == "mtu" && has_value)
      wish_mtu(words[++at], wish);
    else if (word == "netmask" && has_value && !address.empty() && prefix_of(words[at + 1]))
      address += "/" + std::to_string(*prefix_of(words[++at]));
    else if (word == "broadcast" && has_value)
      ++at;
    else if (at == 1 && word.find_first_not_of("0123456789./") == std::string::npos)
      address = word;
    else
      wish.understood = false;
  }
  if (!address.empty()) wish.addresses.push_back(address);
  return judge_wish(wish, scope);
}

// ip [-4] link set [dev] NETDEV [up] [mtu N]; ip address add A/B [brd B] dev NETDEV
Judgement judge_ip(Words words, const RecipeScope& scope) {
  while (!words.empty() && is_option(words.front())) words = words.subspan(1);
  if (words.size() < 3) return {};
  const bool link = words[0] == "link" && words[1] == "set";
  const bool address = std::string_view{"address"}.starts_with(words[0]) && words[1] == "add";
  LinkWish wish;
  std::string netdev;
  for (std::size_t at = 2; at < words.size(); ++at) {
    const std::string& word = words[at];
    const bool has_value = at + 1 < words.size();
    if (word == "dev" && has_value)
      netdev = words[++at];
    else if (link && word == "mtu" && has_value)
      wish_mtu(words[++at], wish);
    else if (address && (word == "brd" || word == "broadcast") && has_value)
      ++at;
    else if (address && word.find('/') != std::string::npos)
      wish.addresses.push_back(word);
    else if (link && at == 2)
      netdev = word;
    else if (!link || word != "up")
      wish.understood = false;
  }
  const bool wishes = link || !wish.addresses.empty();
  return (link || address) && wishes && one_of(scope.netdevs, netdev) ? judge_wish(wish, scope)
                                                                      : Judgement{};
}

// Without what only says how the command is to be run.
Words plain(Words words) {
  constexpr std::array kWrappers{"sudo", "nohup", "command", "env", "nice", "ionice", "time"};
  while (!words.empty() && one_of(kWrappers, base_name(words.front()))) {
    words = words.subspan(1);
    while (!words.empty() && is_option(words.front())) words = words.subspan(1);
  }
  if (words.size() > 2 && base_name(words.front()) == "timeout") words = words.subspan(2);
  while (words.size() > 1 && words.front().find('=') != std::string::npos &&
         words.front().find('/') == std::string::npos)
    words = words.subspan(1);
  return words;
}

// sh -c TEXT: what the text does, as a whole.
Judgement judge_text(const std::string& text, const RecipeScope& scope) {
  Judgement whole{Kind::Filler, {}, {}, {}};
  const ShellScript script = parse_shell(text);
  for (const ShellStatement& statement : script.statements) {
    for (const ShellCommand& command : statement.commands) {
      Judgement one = judge(command, scope);
      whole.steps.insert(whole.steps.end(), one.steps.begin(), one.steps.end());
      if (one.kind == Kind::Other)
        whole = {Kind::Other, std::move(whole.steps), std::move(one.script),
                 std::move(one.missing)};
      else if (one.kind == Kind::Recipe && whole.kind == Kind::Filler)
        whole.kind = Kind::Recipe;
    }
  }
  if (script.trouble_line != 0) whole.kind = Kind::Other;
  return whole;
}

Judgement run_of(const std::string& path) {
  Judgement result;
  if (path.front() == '/') result.script = path;
  return result;
}

// A shell or `.` with its arguments.
Judgement judge_shell(Words arguments, const RecipeScope& scope) {
  while (!arguments.empty() && is_option(arguments.front())) {
    const bool text = arguments.front()[1] != '-' && arguments.front().ends_with('c');
    arguments = arguments.subspan(1);
    if (text && !arguments.empty()) return judge_text(arguments.front(), scope);
  }
  return arguments.empty() || arguments.front().empty() ? Judgement{} : run_of(arguments.front());
}

// What can go where everything beside it goes. A counter's value is used by what goes with it.
bool is_filler(Words words, const std::string& after) {
  constexpr std::array kFillers{"sleep", "echo", "printf", "logger",   "date", "true",
                                "false", ":",    "break",  "continue", "grep", "egrep",
                                "awk",   "head", "tail",   "cut",      "wc",   "test",
                                "[",     "[[",   "seq",    "udevadm",  "lsmod"};
  const std::string& first = words.front();
  if (one_of(kFillers, base_name(first))) return true;
  if (first.starts_with("((") || first == "let") return true;
  if (first == "exit" || first == "return") return after == "||";
  const auto equals = first.find('=');
  return words.size() == 1 && equals != std::string::npos &&
         (first.substr(equals + 1).starts_with("$((") ||
          first.find_first_not_of("0123456789", equals + 1) == std::string::npos);
}

Judgement judge_rdma_tools(const std::string& name, Words arguments) {
  constexpr std::array kViewers{"ibv_devinfo", "ibv_devices", "ibstat", "ibstatus",
                                "ibv_asyncwatch"};
  const bool views = one_of(kViewers, name) || (name == "rdma" && !arguments.empty() &&
                                                one_of(std::array{"link", "dev"}, arguments[0]));
  return views ? recipe(RecipeStep::WatchPort) : Judgement{};
}

}  // namespace

Judgement judge(const ShellCommand& command, const RecipeScope& scope) {
  const Words words = plain(command.words);
  if (words.empty() || words.front().empty()) return {};
  const std::string name = base_name(words.front());
  const Words rest = words.subspan(1);
  if (name == "modprobe") return judge_modules(rest, false, scope);
  if (name == "rmmod") return judge_modules(rest, true, scope);
  if (name == "insmod")
    return judge_modules(rest.first(std::min<std::size_t>(1, rest.size())), false, scope);
  if (name == "systemctl" && rest.size() == 2) return judge_service(rest[0], rest[1]);
  if (name == "service" && rest.size() == 2) return judge_service(rest[1], rest[0]);
  if (words.front() == "/etc/init.d/" + name && rest.size() == 1)
    return judge_service(rest[0], name);
  if (name == "ip") return judge_ip(rest, scope);
  if (name == "ifconfig") return judge_ifconfig(rest, scope);
  if (is_shell(name) || name == "." || name == "source") return judge_shell(rest, scope);
  if (auto viewer = judge_rdma_tools(name, rest); viewer.kind == Kind::Recipe) return viewer;
  if (is_filler(words, command.after)) return {Kind::Filler, {}, {}, {}};
  return run_of(words.front());
}

bool touches_driver(RecipeStep step) {
  return step == RecipeStep::UnloadDriver || step == RecipeStep::LoadDriver ||
         step == RecipeStep::RestartStack;
}

}  // namespace pvrdma::probes
