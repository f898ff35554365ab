// A directory of configuration files that vanishes with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/config/config_files.hpp"

namespace pvrdma::test {

class ConfigTree {
 public:
  ConfigTree() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "pvrdma-config-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~ConfigTree() { std::filesystem::remove_all(path_); }
  ConfigTree(const ConfigTree&) = delete;
  ConfigTree& operator=(const ConfigTree&) = delete;

  // `name` is an absolute path below the root.
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = at(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << text;
  }
  [[nodiscard]] std::filesystem::path at(const std::string& name) const {
    return path_.string() + name;
  }
  [[nodiscard]] Result<LoadedConfig> load() const { return load_config(Root{path_}); }
  // The error's line without the root's path; "" where there is no error.
  [[nodiscard]] std::string complaint() const {
    const auto loaded = load();
    std::string line = loaded ? "" : loaded.error().message();
    for (std::size_t at = 0; (at = line.find(path_.string())) != std::string::npos;)
      line.erase(at, path_.string().size());
    return line;
  }

 private:
  std::filesystem::path path_;
};

inline constexpr const char* kMain = "/etc/pvrdma-agent/pvrdma-agent.toml";

}  // namespace pvrdma::test
