// A root directory of one test: files and links as /sys, /proc and /lib/modules have them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/base/file.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::test {

class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "pvrdma-tree-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  Tree(Tree&&) = delete;
  Tree& operator=(Tree&&) = delete;
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] Root root() const { return Root{path_}; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& absolute) const {
    return root() / absolute;
  }

  void directory(const std::string& absolute) const {
    std::filesystem::create_directories(root() / absolute);
  }
  // A file, with the directories above it; replaces one of that name.
  void file(const std::string& absolute, const std::string& content) const {
    const auto path = root() / absolute;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << content;
  }
  void link(const std::string& absolute, const std::string& target) const {
    const auto path = root() / absolute;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::create_symlink(target, path);
  }
  // A path that can be neither listed nor read, even by root: a link to itself (ELOOP).
  void unreadable(const std::string& absolute) const {
    link(absolute, (root() / absolute).filename().string());
  }
  void remove(const std::string& absolute) const { std::filesystem::remove_all(root() / absolute); }
  void program(const std::string& absolute, const std::string& script) const {
    file(absolute, "#!/bin/sh\n" + script);
    std::filesystem::permissions(root() / absolute, std::filesystem::perms::owner_all);
  }

 private:
  std::filesystem::path path_;
};

// A PCI function as sysfs shows it; no driver where `driver` is empty.
inline void pci_function(const Tree& tree, const std::string& address, const std::string& vendor,
                         const std::string& device, const std::string& driver) {
  const std::string function = "/sys/bus/pci/devices/" + address;
  tree.file(function + "/vendor", vendor + "\n");
  tree.file(function + "/device", device + "\n");
  if (!driver.empty()) tree.link(function + "/driver", "../../../bus/pci/drivers/" + driver);
}

// An adapter of slot 0000:SLOT as seen in a guest (Linux 6.1): both functions bound, port ACTIVE,
// two GIDs in a table of eight.
inline void bound_adapter(const Tree& tree, const std::string& slot, const std::string& netdev,
                          const std::string& rdma_device, const std::string& uverbs) {
  const std::string net_function = "0000:" + slot + ".0";
  const std::string function = "0000:" + slot + ".1";
  pci_function(tree, net_function, "0x15ad", "0x07b0", "vmxnet3");
  pci_function(tree, function, "0x15ad", "0x0820", "vmw_pvrdma");
  tree.directory("/sys/bus/pci/devices/" + net_function + "/net/" + netdev);
  tree.directory("/sys/bus/pci/devices/" + function + "/infiniband_verbs/" + uverbs);
  const std::string device = "/sys/bus/pci/devices/" + function + "/infiniband/" + rdma_device;
  tree.file(device + "/node_guid", "0250:56ff:fe00:0010\n");
  const std::string port = device + "/ports/1";
  tree.file(port + "/state", "4: ACTIVE\n");
  tree.file(port + "/phys_state", "5: LinkUp\n");
  tree.file(port + "/link_layer", "Ethernet\n");
  for (int index = 0; index < 8; ++index)
    tree.file(port + "/gids/" + std::to_string(index), "0000:0000:0000:0000:0000:0000:0000:0000\n");
  tree.file(port + "/gids/0", "fe80:0000:0000:0000:0250:56ff:fe00:0010\n");
  tree.file(port + "/gids/1", "0000:0000:0000:0000:0000:ffff:c0a8:1ec9\n");
  for (const char* index : {"0", "1"}) {
    tree.file(port + "/gid_attrs/types/" + index, "IB/RoCE v1\n");
    tree.file(port + "/gid_attrs/ndevs/" + index, netdev + "\n");
  }
}

}  // namespace pvrdma::test
