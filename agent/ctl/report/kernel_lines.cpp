#include "agent/ctl/report/kernel_lines.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"

namespace pvrdma::ctl::bundle {

namespace {

constexpr unsigned kLinesOfBlock = 80;  // where its end trace is missing

constexpr std::array kSubjects{"pvrdma",
                               "vmxnet3",
                               "infiniband",
                               "ib_",
                               "rdma",
                               "mlx",
                               "roce",
                               "iwcm",
                               "verbs",
                               "15ad:0820",
                               "15ad:07b0",
                               "rtnetlink",
                               "unregister_netdevice",
                               "linux version",
                               "command line:"};
constexpr std::array kBlocks{"bug:",
                             "oops",
                             "cut here",
                             "call trace",
                             "blocked for more than",
                             "general protection",
                             "unable to handle",
                             "rcu: info",
                             "soft lockup",
                             "kernel panic"};

template <typename Words>
bool has_any(const std::string& line, const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return line.find(word) != std::string::npos; });
}

// Without time and host, which the journal puts before: a host may be called rdma7.
std::string_view message_of(std::string_view line) {
  if (line.empty() || !is_digit(line.front())) return line;
  cut(line, ' ');
  cut(line, ' ');
  return line;
}

}  // namespace

std::string rdma_lines(std::string_view messages) {
  std::string out;
  unsigned of_block = 0;  // lines yet to come
  while (!messages.empty()) {
    const std::string_view line = cut(messages, '\n');
    const std::string message = lower(message_of(line));
    if (has_any(message, kBlocks)) of_block = kLinesOfBlock;
    if (of_block > 0 || has_any(message, kSubjects)) out.append(line) += '\n';
    if (of_block > 0) --of_block;
    if (message.find("end trace") != std::string::npos) of_block = 0;
  }
  return out;
}

}  // namespace pvrdma::ctl::bundle
