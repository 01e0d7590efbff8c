// Where Stoker keeps its things: the one place that knows the names under $STOKER_HOME.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

class Home {
 public:
  explicit Home(std::string root) : root_(std::move(root)) {}
  const std::string& root() const { return root_; }
  std::string ledger() const { return root_ + "/ledger.db"; }
  std::string settings() const { return root_ + "/stoker.toml"; }
  std::string pid_file() const { return root_ + "/serve.pid"; }
  std::string address_file() const { return root_ + "/serve.address"; }  // "127.0.0.1:8090"
  std::string log_file() const { return root_ + "/serve.log"; }
  std::string jobs() const { return root_ + "/jobs"; }
  std::string job(int64_t id) const { return jobs() + "/" + std::to_string(id); }
  std::string vault() const { return root_ + "/vault"; }  // the default `dir` store

 private:
  std::string root_;
};

}  // namespace stoker
