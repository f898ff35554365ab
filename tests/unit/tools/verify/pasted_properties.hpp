// SPDX-License-Identifier: GPL-2.0-or-later
// The properties of two adapters as an administrator pastes them, in the form of a vendor's paper.
#pragma once

#include <string>
#include <string_view>

namespace pvrdma::test {

inline constexpr const char* kOwnMac = "00:50:56:8a:9f:c2";
inline constexpr const char* kPeerMac = "00:50:56:8a:11:07";

// `hosts`: a letter for each adapter's host, in the prompt; l: localhost; ?: a prompt without a
// name; =: no prompt of its own. `nics`: "Physical HCA available"; -: no such number.
inline std::string pasted_properties(std::string_view hosts, std::string_view nics) {
  std::string text;
  for (const std::size_t at : {0U, 1U}) {
    const std::string node = std::to_string(2101234 + at) + "_0";
    const std::string prompt = hosts[at] == '?'   ? "~ # "
                               : hosts[at] == 'l' ? "[root@localhost:~] "
                                                  : "[root@esx0" + std::string{hosts[at]} + ":~] ";
    if (hosts[at] != '=')
      text += prompt + "vsish -e cat /vmkModules/vrdma/pvrdmaDevices/" + node + "/properties\n";
    text += "PVRDMA Device Properties {\n   VMM leader ID of VM:" + std::to_string(2101234 + at) +
            "\n   adapter index:0\n   MAC address:" + (at == 0 ? kOwnMac : kPeerMac) +
            "\n   Physical HCA available:" + std::string{nics[at]} +
            "\n   Namespace allocated:0\n   Native endpoints supported:0\n   RoCE version:2\n"
            "   Active MTU:1024\n}\n";
  }
  return text;
}

}  // namespace pvrdma::test
