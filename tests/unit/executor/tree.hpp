// A directory of fake files for one test, removed with it; written as a root for what is under
// test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "agent/base/file.hpp"

namespace pvrdma::test {

class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "pvrdma-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
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
  [[nodiscard]] std::filesystem::path at(const std::string& absolute) const {
    return root() / absolute;
  }
  void write(const std::string& absolute, const std::string& content) const {
    std::filesystem::create_directories(at(absolute).parent_path());
    std::ofstream{at(absolute), std::ios::binary} << content;
  }
  void link(const std::string& absolute, const std::string& target) const {
    std::filesystem::create_directories(at(absolute).parent_path());
    std::filesystem::create_symlink(target, at(absolute));
  }
  [[nodiscard]] std::string read(const std::string& absolute) const {
    std::ifstream file{at(absolute), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  [[nodiscard]] unsigned mode(const std::string& absolute) const {
    return static_cast<unsigned>(std::filesystem::status(at(absolute)).permissions());
  }

 private:
  std::filesystem::path path_;
};

inline constexpr const char* kFunction = "0000:13:00.1";
inline constexpr const char* kNetFunction = "0000:13:00.0";

// One adapter as sysfs shows it, vmw_pvrdma live and used by nobody.
inline void add_adapter(const Tree& tree, const std::string& netdev, int interface_index) {
  const std::string rdma = std::string{"/sys/bus/pci/devices/"} + kFunction;
  const std::string net = std::string{"/sys/bus/pci/devices/"} + kNetFunction;
  tree.write(rdma + "/vendor", "0x15ad\n");
  tree.write(rdma + "/device", "0x0820\n");
  tree.link(rdma + "/driver", "../../../bus/pci/drivers/vmw_pvrdma");
  tree.write(rdma + "/infiniband/rocep19s0f1/node_type", "1: CA\n");
  tree.write(rdma + "/infiniband_verbs/uverbs0/ibdev", "rocep19s0f1\n");
  tree.write(net + "/vendor", "0x15ad\n");
  tree.write(net + "/device", "0x07b0\n");
  tree.link(net + "/driver", "../../../bus/pci/drivers/vmxnet3");
  tree.write(net + "/net/" + netdev + "/ifindex", std::to_string(interface_index) + "\n");
  tree.write(net + "/net/" + netdev + "/address", "00:50:56:8a:9f:c2\n");
  tree.write("/sys/bus/pci/drivers/vmw_pvrdma/bind", "");
  tree.write("/sys/bus/pci/drivers/vmw_pvrdma/unbind", "");
  tree.write("/sys/module/vmw_pvrdma/initstate", "live\n");
  tree.write("/sys/module/vmw_pvrdma/refcnt", "0\n");
  tree.write("/proc/modules",
             "vmw_pvrdma 81920 0 - Live 0x0000000000000000\n"
             "vmxnet3 73728 0 - Live 0x0000000000000000\n");
  tree.write("/dev/infiniband/uverbs0", "");
  std::filesystem::permissions(tree.at("/dev/infiniband/uverbs0"), std::filesystem::perms{0666});
}

}  // namespace pvrdma::test
