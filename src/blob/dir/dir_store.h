// Objects as files below a folder (any mount), each written durably.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "blob/object_store.h"

namespace stoker::blob {

Result<std::unique_ptr<ObjectStore>> OpenDirStore(const std::string& root);

}  // namespace stoker::blob
