// The format checks behind Examine(), one a file format.
#pragma once

#include "base/result.h"
#include "vault/file_bytes.h"
#include "vault/whole.h"

namespace stoker::vault {

// End record, directory, local headers, and the CRC-32 of every record's bytes.
Result<Verdict> CheckZip(const FileBytes& file);
// Header length, JSON, and the size equation: offsets without gaps up to the end of the file.
Result<Verdict> CheckSafetensors(const FileBytes& file);
// The protobuf fields of the model reach exactly to the end of the file.
Result<Verdict> CheckOnnx(const FileBytes& file);

inline Verdict Whole(std::string format) { return {Proof::kWhole, std::move(format), ""}; }
inline Verdict QuietOnly(std::string format, std::string reason) {
  return {Proof::kQuietOnly, std::move(format), std::move(reason)};
}
inline Verdict NotWhole(std::string format, std::string reason) {
  return {Proof::kNotWhole, std::move(format), std::move(reason)};
}

}  // namespace stoker::vault
