// A shared library opened at run time. Missing symbols are null: that is how old drivers look.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace stoker {

class DynLib {
 public:
  // kNotFound with the loader's reason.
  static Result<DynLib> Open(const std::string& name_or_path);
  DynLib(DynLib&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  DynLib& operator=(DynLib&& other) noexcept;
  ~DynLib();

  template <typename Function>
  Function* Find(const char* symbol) const {
    return reinterpret_cast<Function*>(FindRaw(symbol));
  }

 private:
  explicit DynLib(void* handle) : handle_(handle) {}
  void* FindRaw(const char* symbol) const;
  void* handle_ = nullptr;
};

}  // namespace stoker
