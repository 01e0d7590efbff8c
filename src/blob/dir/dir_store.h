// Objects as files below a folder (any mount), each written durably.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "blob/object_store.h"

namespace stoker::blob {

// Creates `root` where it is absent. Later a root that has gone (an unmounted disk) is
// kUnavailable, never created again.
Result<std::unique_ptr<ObjectStore>> OpenDirStore(const std::string& root);

}  // namespace stoker::blob
