#include "base/dynlib.h"

#include <dlfcn.h>

namespace stoker {

Result<DynLib> DynLib::Open(const std::string& name_or_path) {
  void* handle = ::dlopen(name_or_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return NotFound(reason != nullptr ? reason : "cannot be loaded", name_or_path);
  }
  return DynLib(handle);
}

DynLib& DynLib::operator=(DynLib&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

DynLib::~DynLib() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* DynLib::FindRaw(const char* symbol) const { return ::dlsym(handle_, symbol); }

}  // namespace stoker
