#include "agent/ctl/report/host.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/text.hpp"

namespace pvrdma::ctl::bundle {

namespace {

constexpr unsigned kFirstLogin = 1000;  // login.defs(5): UID_MIN
constexpr unsigned kNobody = 65534;

std::string content_of(const Root& root, const char* path) {
  return read_file(root / path).value_or("");
}

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t at = 0;
       (at = line.find_first_not_of(" \t\r\n", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r\n", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// "node7.cluster.example" is known by its first label as well, and gives its domain away.
void add_host(Redactor& redactor, std::string_view name) {
  constexpr std::array kCommon{"localhost", "localdomain", "ip6-", "broadcasthost"};
  if (name == "(none)" || std::any_of(kCommon.begin(), kCommon.end(), [&](std::string_view word) {
        return name.starts_with(word);
      }))
    return;
  redactor.add_name(Kind::Host, std::string{name});
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return;
  redactor.add_name(Kind::Host, std::string{name.substr(0, dot)});
  // A top-level domain says nothing.
  if (name.find('.', dot + 1) != std::string_view::npos)
    redactor.add_name(Kind::Host, std::string{name.substr(dot + 1)});
}

void add_hosts(Redactor& redactor, const Root& root) {
  for (const char* path : {"/proc/sys/kernel/hostname", "/etc/hostname"}) {
    const std::string content = content_of(root, path);  // what the words point into
    for (const std::string_view word : words_of(content)) add_host(redactor, word);
  }
  const std::string hosts = content_of(root, "/etc/hosts");
  for (std::string_view rest = hosts; !rest.empty();) {
    const auto words = words_of(cut(rest, '\n'));
    for (std::size_t n = 1; n < words.size(); ++n) add_host(redactor, words[n]);
  }
  const std::string resolver = content_of(root, "/etc/resolv.conf");
  for (std::string_view rest = resolver; !rest.empty();) {
    const auto words = words_of(cut(rest, '\n'));
    if (words.empty() || (words.front() != "search" && words.front() != "domain")) continue;
    for (std::size_t n = 1; n < words.size(); ++n)
      if (words[n].find('.') != std::string_view::npos)
        redactor.add_name(Kind::Host, std::string{words[n]});
  }
}

// "alice:x:1000:1000:Alice,,,:/home/alice:/bin/bash"
void add_user(Redactor& redactor, std::string_view line) {
  const std::string_view name = cut(line, ':');
  cut(line, ':');
  const std::string_view number = cut(line, ':');
  cut(line, ':');
  cut(line, ':');
  const std::string_view home = cut(line, ':');
  unsigned uid = 0;
  std::from_chars(number.data(), number.data() + number.size(), uid);
  if ((uid >= kFirstLogin && uid != kNobody) || home.starts_with("/home/"))
    redactor.add_name(Kind::User, std::string{name});
}

}  // namespace

void learn_host(Redactor& redactor, const Root& root) {
  add_hosts(redactor, root);
  const std::string users = content_of(root, "/etc/passwd");
  for (std::string_view rest = users; !rest.empty();) add_user(redactor, cut(rest, '\n'));
  redactor.learn(content_of(root, "/etc/machine-id"));
  for (const std::string& name :
       list_directory(root / "/sys/class/net").value_or(std::vector<std::string>{}))
    redactor.learn(content_of(root, ("/sys/class/net/" + name + "/address").c_str()));
}

}  // namespace pvrdma::ctl::bundle
