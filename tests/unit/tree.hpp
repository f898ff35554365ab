// SPDX-License-Identifier: GPL-2.0-or-later
// A directory of files for one test, removed with it, which serves as a root for the tested code.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "agent/base/file.hpp"

namespace pvrdma::test {

// Paths are absolute below the root: "/proc/modules".
class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "pvrdma-tree-XXXXXX").string();
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
  [[nodiscard]] std::filesystem::path operator/(const std::string& absolute) const {
    return root() / absolute;
  }

  void directory(const std::string& absolute) const {
    if (auto made = make_directories(*this / absolute); !made) throw std::runtime_error("mkdir");
  }
  // Writes a file and the directories above it; replaces a file of that name.
  void file(const std::string& absolute, const std::string& content) const {
    directory(std::filesystem::path{absolute}.parent_path());
    std::ofstream{*this / absolute, std::ios::binary} << content;
  }
  // A file that only its owner may read, as NetworkManager wants its keyfiles.
  void private_file(const std::string& absolute, const std::string& content) const {
    file(absolute, content);
    using std::filesystem::perms;
    std::filesystem::permissions(*this / absolute, perms::owner_read | perms::owner_write);
  }
  void link(const std::string& absolute, const std::string& target) const {
    directory(std::filesystem::path{absolute}.parent_path());
    std::filesystem::create_symlink(target, *this / absolute);
  }
  // Makes a path that even root can neither list nor read: a link to itself (ELOOP).
  void unreadable(const std::string& absolute) const {
    link(absolute, (*this / absolute).filename().string());
  }
  void remove(const std::string& absolute) const { std::filesystem::remove_all(*this / absolute); }
  void program(const std::string& absolute, const std::string& script) const {
    file(absolute, "#!/bin/sh\n" + script);
    std::filesystem::permissions(*this / absolute, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string read(const std::string& absolute) const {
    std::ifstream content{*this / absolute, std::ios::binary};
    return {std::istreambuf_iterator<char>{content}, {}};
  }
  [[nodiscard]] unsigned mode(const std::string& absolute) const {
    return static_cast<unsigned>(std::filesystem::status(*this / absolute).permissions());
  }

 private:
  std::filesystem::path path_;
};

}  // namespace pvrdma::test
