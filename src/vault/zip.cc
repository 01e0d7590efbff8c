// PKZIP APPNOTE 6.3: 4.3.7 local header, 4.3.12 directory, 4.3.14 to 4.3.16 end records. Torch
// writes records unpacked, with data descriptors and always with the 64-bit end record; the
// directory is what we trust, for it is written last.
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "vault/formats.h"

namespace stoker::vault {
namespace {

constexpr size_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kEntrySize = 46,
                 kLocalSize = 30;
constexpr size_t kMaxComment = 65535;
constexpr uint64_t kMaxRecords = 1'000'000;
constexpr uint64_t kMaxUnpackRatio = 1100;  // deflate cannot exceed 1032

struct Directory {
  int64_t offset = 0, end = 0;
  uint64_t records = 0;
};
struct Record {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, unpacked = 0, local = 0;
};
// What is kept of a record until its bytes are checked.
struct Span {
  int64_t header = 0, data = 0, end = 0;
  uint64_t unpacked = 0;
  uint32_t crc = 0;
  uint16_t method = 0;
};

Error Broken(std::string what) { return Corrupt(std::move(what)); }

// Position of the end record: the last one whose comment reaches exactly to the end of the file.
Result<int64_t> FindEnd(const FileBytes& file) {
  const auto tail_size = static_cast<size_t>(
      std::min<int64_t>(file.size(), static_cast<int64_t>(kEndSize + kMaxComment)));
  const int64_t tail_at = file.size() - static_cast<int64_t>(tail_size);
  STOKER_ASSIGN(const std::string tail, file.ReadAt(tail_at, tail_size));
  if (tail_size < kEndSize) return Broken("no end record: the file is cut off");
  for (size_t at = tail_size - kEndSize + 1; at-- > 0;) {
    if (std::string_view(tail).substr(at, 4) != "PK\x05\x06") continue;
    if (at + kEndSize + Little(tail, at + 20, 2) == tail_size) {
      return tail_at + static_cast<int64_t>(at);
    }
  }
  return Broken("no end record: the file is cut off");
}

// The 64-bit end record, where the locator before the plain one points to it.
Result<std::optional<Directory>> ReadEnd64(const FileBytes& file, int64_t end_at) {
  const int64_t locator_at = end_at - static_cast<int64_t>(kLocatorSize);
  if (locator_at < static_cast<int64_t>(kEnd64Size)) return std::optional<Directory>();
  STOKER_ASSIGN(const std::string locator, file.ReadAt(locator_at, kLocatorSize));
  if (!locator.starts_with("PK\x06\x07")) return std::optional<Directory>();
  const uint64_t at = Little(locator, 8, 8);
  if (at > static_cast<uint64_t>(locator_at) - kEnd64Size) {
    return Broken("the 64-bit end record lies outside the file");
  }
  STOKER_ASSIGN(const std::string end64, file.ReadAt(static_cast<int64_t>(at), kEnd64Size));
  const uint64_t length = Little(end64, 4, 8);
  if (!end64.starts_with("PK\x06\x06") || length != static_cast<uint64_t>(locator_at) - at - 12) {
    return Broken("the 64-bit end record is damaged");
  }
  const uint64_t offset = Little(end64, 48, 8), size = Little(end64, 40, 8);
  if (offset > at || size != at - offset) return Broken("the directory does not meet its end");
  return std::optional(
      Directory{static_cast<int64_t>(offset), static_cast<int64_t>(at), Little(end64, 32, 8)});
}

Result<Directory> FindDirectory(const FileBytes& file) {
  STOKER_ASSIGN(const int64_t end_at, FindEnd(file));
  STOKER_ASSIGN(const auto end64, ReadEnd64(file, end_at));
  if (end64) return *end64;
  STOKER_ASSIGN(const std::string end, file.ReadAt(end_at, kEndSize));
  const auto offset = static_cast<int64_t>(Little(end, 16, 4));
  const auto size = static_cast<int64_t>(Little(end, 12, 4));
  if (Little(end, 4, 2) != 0 || Little(end, 6, 2) != 0) return Broken("one part of several");
  if (offset + size != end_at) return Broken("the directory does not meet its end");
  return Directory{offset, end_at, Little(end, 10, 2)};
}

// Sizes and offset that do not fit in 32 bits stand in the extra field 1, in this order.
Status ApplyExtra64(std::string_view extra, Record& record) {
  uint64_t* const fields[] = {&record.unpacked, &record.packed, &record.local};
  const auto saturated = [](uint64_t v) { return v == 0xffffffff; };
  while (extra.size() >= 4) {
    const uint64_t id = Little(extra, 0, 2), size = Little(extra, 2, 2);
    if (size > extra.size() - 4) return Broken("an extra field is damaged");
    std::string_view body = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (id != 1) continue;
    for (uint64_t* field : fields) {
      if (!saturated(*field)) continue;
      if (body.size() < 8) return Broken("a 64-bit extra field is too short");
      *field = Little(body, 0, 8);
      body.remove_prefix(8);
    }
    return Ok();
  }
  for (const uint64_t* field : fields) {
    if (saturated(*field)) return Broken("a 64-bit extra field is missing");
  }
  return Ok();
}

Result<Record> ReadRecord(Cursor& cursor) {
  STOKER_ASSIGN(const std::string_view fixed, cursor.Exactly(kEntrySize));
  if (!fixed.starts_with("PK\x01\x02")) return Broken("the directory is damaged");
  Record record;
  record.flags = static_cast<uint16_t>(Little(fixed, 8, 2));
  record.method = static_cast<uint16_t>(Little(fixed, 10, 2));
  record.crc = static_cast<uint32_t>(Little(fixed, 16, 4));
  record.packed = Little(fixed, 20, 4);
  record.unpacked = Little(fixed, 24, 4);
  record.local = Little(fixed, 42, 4);
  const size_t name_size = Little(fixed, 28, 2), extra_size = Little(fixed, 30, 2),
               comment_size = Little(fixed, 32, 2);
  STOKER_ASSIGN(const std::string_view name, cursor.Exactly(name_size));
  record.name = name;
  STOKER_ASSIGN(const std::string_view extra, cursor.Exactly(extra_size));
  STOKER_TRY(ApplyExtra64(extra, record));
  STOKER_TRY(cursor.Skip(static_cast<int64_t>(comment_size)));
  return record;
}

Result<Span> Locate(const FileBytes& file, const Directory& directory, const Record& record) {
  const auto limit = static_cast<uint64_t>(directory.offset);
  if (record.local > limit || limit - record.local < kLocalSize + record.name.size()) {
    return Broken("a record lies outside the file");
  }
  const auto header = static_cast<int64_t>(record.local);
  STOKER_ASSIGN(const std::string local, file.ReadAt(header, kLocalSize + record.name.size()));
  if (!local.starts_with("PK\x03\x04") || Little(local, 26, 2) != record.name.size() ||
      std::string_view(local).substr(kLocalSize) != record.name) {
    return Broken("a record is not where the directory says");
  }
  const uint64_t data = record.local + kLocalSize + record.name.size() + Little(local, 28, 2);
  if (data > limit || record.packed > limit - data) return Broken("a record lies outside the file");
  return Span{header,
              static_cast<int64_t>(data),
              static_cast<int64_t>(data + record.packed),
              record.unpacked,
              record.crc,
              record.method};
}

uint32_t Crc(uint32_t crc, std::string_view bytes) {
  return static_cast<uint32_t>(
      ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

Result<uint32_t> CrcOfStored(Cursor cursor) {
  uint32_t crc = 0;
  while (true) {
    STOKER_ASSIGN(const std::string_view bytes, cursor.Some(Cursor::kWindow));
    if (bytes.empty()) return crc;
    crc = Crc(crc, bytes);
  }
}

Result<uint32_t> CrcOfDeflated(Cursor cursor, uint64_t unpacked) {
  const Error broken = Broken("a packed record cannot be unpacked");
  z_stream stream{};
  if (::inflateInit2(&stream, -15) != Z_OK) return Internal("cannot start to unpack");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, ::inflateEnd);
  std::string out(Cursor::kWindow, '\0');
  uint32_t crc = 0;
  uint64_t total = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    STOKER_ASSIGN(const std::string_view in, cursor.Some(Cursor::kWindow));
    if (in.empty()) return broken;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<uInt>(in.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      state = ::inflate(&stream, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) return broken;
      const std::string_view piece = std::string_view(out).substr(0, out.size() - stream.avail_out);
      crc = Crc(crc, piece);
      total += piece.size();
      if (total > unpacked) return broken;
    } while (state != Z_STREAM_END && (stream.avail_in > 0 || stream.avail_out == 0));
  }
  if (total != unpacked || stream.avail_in != 0 || cursor.left() != 0) return broken;
  return crc;
}

struct Contents {
  std::vector<Span> spans;
  bool is_torch = false;
  bool has_checksums = false;
  bool all_readable = true;  // nothing encrypted or packed in a way unknown here
};

Result<Contents> ReadDirectory(const FileBytes& file, const Directory& directory) {
  Contents out;
  Cursor cursor(file, directory.offset, directory.end);
  for (uint64_t i = 0; i < directory.records; ++i) {
    STOKER_ASSIGN(const Record record, ReadRecord(cursor));
    STOKER_ASSIGN(const Span span, Locate(file, directory, record));
    if (record.method == 0 && record.packed != record.unpacked) {
      return Broken("a record has two sizes");
    }
    if (record.unpacked / kMaxUnpackRatio > record.packed) return Broken("a record has two sizes");
    out.is_torch |= record.name.ends_with("/data.pkl") || record.name == "data.pkl";
    out.has_checksums |= record.crc != 0;
    if ((record.flags & 1) != 0 || (record.method != 0 && record.method != 8)) {
      out.all_readable = false;
    }
    out.spans.push_back(span);
  }
  if (cursor.left() != 0) return Broken("the directory has more than it says");
  // Records in file order without overlap: so the checksums below read no byte twice.
  std::sort(out.spans.begin(), out.spans.end(),
            [](const Span& a, const Span& b) { return a.header < b.header; });
  for (size_t i = 1; i < out.spans.size(); ++i) {
    if (out.spans[i].header < out.spans[i - 1].end) return Broken("two records overlap");
  }
  return out;
}

Result<Verdict> Check(const FileBytes& file) {
  STOKER_ASSIGN(const Directory directory, FindDirectory(file));
  if (directory.records == 0) return Broken("holds nothing");
  if (directory.records > kMaxRecords) {
    return QuietOnly("zip", "more than a million records, not checked inside");
  }
  STOKER_ASSIGN(const Contents contents, ReadDirectory(file, directory));
  const std::string format = contents.is_torch ? "torch-zip" : "zip";
  if (!contents.all_readable) return QuietOnly(format, "encrypted or packed in an unknown way");
  if (!contents.has_checksums) {
    return QuietOnly(format, "complete, but written without checksums");
  }
  for (const Span& span : contents.spans) {
    Cursor bytes(file, span.data, span.end);
    STOKER_ASSIGN(const uint32_t crc, span.method == 0
                                          ? CrcOfStored(std::move(bytes))
                                          : CrcOfDeflated(std::move(bytes), span.unpacked));
    if (crc != span.crc) return Broken("a record's checksum is wrong");
  }
  return Whole(format);
}

}  // namespace

Result<Verdict> CheckZip(const FileBytes& file) {
  Result<Verdict> verdict = Check(file);
  if (!verdict && verdict.error().code == Code::kCorrupt) {
    return NotWhole("zip", verdict.error().what);
  }
  return verdict;
}

}  // namespace stoker::vault
