// libjpeg reports errors by longjmp. Every setjmp is in this file, in functions whose locals need
// no destructor; whatever owns memory lives in their callers.
#include "photo/jpeg.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

// <cstdio> must precede these two.
#include <jerror.h>
#include <jpeglib.h>

#include "base/file.h"
#include "base/text.h"
#include "photo/exif.h"

namespace stoker::photo {
namespace {

// A file of a few kilobytes can ask for thousands of passes over one picture; real ones have
// about 10.
constexpr int kMaxScans = 200;
constexpr size_t kMaxFileBytes = 256u << 20;

struct ErrorState {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  bool hit_end = false;
  char message[JMSG_LENGTH_MAX] = {};
};

ErrorState* StateOf(j_common_ptr codec) { return reinterpret_cast<ErrorState*>(codec->err); }

[[noreturn]] void OnError(j_common_ptr codec) {
  codec->err->format_message(codec, StateOf(codec)->message);
  std::longjmp(StateOf(codec)->jump, 1);
}

void OnMessage(j_common_ptr codec, int level) {
  if (level >= 0) return;
  ++codec->err->num_warnings;
  if (codec->err->msg_code == JWRN_JPEG_EOF) StateOf(codec)->hit_end = true;
}

void OnProgress(j_common_ptr codec) {
  if (!codec->is_decompressor) return;
  const auto* decoder = reinterpret_cast<j_decompress_ptr>(codec);
  if (decoder->input_scan_number <= kMaxScans) return;
  std::snprintf(StateOf(codec)->message, JMSG_LENGTH_MAX, "more than %d scans", kMaxScans);
  std::longjmp(StateOf(codec)->jump, 1);
}

void UseErrorState(jpeg_error_mgr*& slot, ErrorState& state) {
  slot = jpeg_std_error(&state.manager);
  state.manager.error_exit = OnError;
  state.manager.emit_message = OnMessage;
}

// One decompressor; the stages below are called in order and answer false with error.message set.
struct Decoder {
  jpeg_decompress_struct codec = {};
  jpeg_progress_mgr progress = {};
  ErrorState error;

  Decoder() {
    UseErrorState(codec.err, error);
    progress.progress_monitor = OnProgress;
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(&codec); }
};

bool ReadHeader(Decoder& decoder, std::string_view bytes) {
  if (setjmp(decoder.error.jump)) return false;
  jpeg_create_decompress(&decoder.codec);
  decoder.codec.progress = &decoder.progress;
  jpeg_mem_src(&decoder.codec, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_save_markers(&decoder.codec, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&decoder.codec, TRUE);
  return true;
}

bool StartDecoding(Decoder& decoder, unsigned eighths) {
  if (setjmp(decoder.error.jump)) return false;
  const bool inks = decoder.codec.num_components == 4;
  decoder.codec.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  decoder.codec.scale_num = eighths;
  decoder.codec.scale_denom = 8;
  jpeg_start_decompress(&decoder.codec);
  return true;
}

// Fills `rows` (output_height rows of `stride` bytes); stops early where the bytes end.
bool ReadRows(Decoder& decoder, uint8_t* pixels, size_t stride) {
  if (setjmp(decoder.error.jump)) return false;
  while (decoder.codec.output_scanline < decoder.codec.output_height && !decoder.error.hit_end) {
    JSAMPROW row = pixels + stride * decoder.codec.output_scanline;
    jpeg_read_scanlines(&decoder.codec, &row, 1);
  }
  if (!decoder.error.hit_end) jpeg_finish_decompress(&decoder.codec);
  return true;
}

// The first EXIF block; empty where there is none.
std::string_view ExifBlock(const jpeg_decompress_struct& codec) {
  for (auto* marker = codec.marker_list; marker; marker = marker->next) {
    const std::string_view payload(reinterpret_cast<const char*>(marker->data),
                                   marker->data_length);
    if (marker->marker == JPEG_APP0 + 1 && payload.substr(0, 4) == "Exif") return payload;
  }
  return {};
}

JpegInfo InfoOf(const jpeg_decompress_struct& codec) {
  const std::string_view exif = ExifBlock(codec);
  return {.width = static_cast<int>(codec.image_width),
          .height = static_cast<int>(codec.image_height),
          .components = codec.num_components,
          .orientation = ExifOrientation(exif),
          .progressive = codec.progressive_mode != 0,
          .exif_cut_short = ExifIsCutShort(exif)};
}

unsigned EighthsFor(const JpegInfo& info, int shorter_side) {
  if (shorter_side <= 0) return 8;
  const int64_t shorter = std::min(info.width, info.height);
  for (const unsigned eighths : {1u, 2u, 4u}) {  // the others lack fast code: slower than 8/8
    if (shorter * eighths / 8 >= shorter_side) return eighths;
  }
  return 8;
}

// Adobe stores inks inverted (255 is no ink); files without its marker store them straight.
void InksToRgb(const std::vector<uint8_t>& inks, bool inverted, Image& image) {
  const size_t pixels = image.rgb.size() / 3;
  for (size_t i = 0; i < pixels; ++i) {
    const int black = inverted ? inks[i * 4 + 3] : 255 - inks[i * 4 + 3];
    for (size_t c = 0; c < 3; ++c) {
      const int ink = inverted ? inks[i * 4 + c] : 255 - inks[i * 4 + c];
      image.rgb[i * 3 + c] = static_cast<uint8_t>((ink * black + 127) / 255);
    }
  }
}

Status CheckIsJpeg(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) return Corrupt("empty file", where);
  const std::string_view format = SniffFormat(bytes);
  if (format == "JPEG") return Ok();
  if (format.empty()) return Invalid("not a JPEG", where);
  return Invalid("not a JPEG (looks like " + std::string(format) + ")", where,
                 "convert it to JPEG");
}

Error DecodeFailure(const Decoder& decoder, const std::string& where) {
  if (decoder.error.hit_end) return Corrupt("truncated JPEG: the bytes end early", where);
  return Corrupt("damaged JPEG: " + Printable(decoder.error.message), where);
}

}  // namespace

std::string_view SniffFormat(std::string_view bytes) {
  const auto begins = [&](std::string_view magic) {
    return bytes.substr(0, magic.size()) == magic;
  };
  if (begins("\xff\xd8")) return "JPEG";
  if (begins("\x89PNG")) return "PNG";
  if (begins("GIF8")) return "GIF";
  if (begins("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP") return "WebP";
  if (begins("BM")) return "BMP";
  if (begins("II*") || begins(std::string_view("MM\0*", 4))) return "TIFF";
  if (bytes.size() >= 12 && bytes.substr(4, 4) == "ftyp") return "HEIC or AVIF";
  return {};
}

Result<JpegInfo> ReadJpegInfo(std::string_view bytes, const std::string& where) {
  STOKER_TRY(CheckIsJpeg(bytes, where));
  Decoder decoder;
  if (!ReadHeader(decoder, bytes) || decoder.error.hit_end) return DecodeFailure(decoder, where);
  return InfoOf(decoder.codec);
}

Result<Image> DecodeJpeg(std::string_view bytes, const std::string& where,
                         const DecodeOptions& options) {
  STOKER_TRY(CheckIsJpeg(bytes, where));
  Decoder decoder;
  if (!ReadHeader(decoder, bytes) || decoder.error.hit_end) return DecodeFailure(decoder, where);
  const JpegInfo info = InfoOf(decoder.codec);
  if (int64_t{info.width} * info.height > options.max_pixels) {
    return Invalid("too large: " + std::to_string(info.width) + " x " +
                       std::to_string(info.height) + " pixels",
                   where, "shrink it first");
  }
  if (!StartDecoding(decoder, EighthsFor(info, options.shorter_side))) {
    return DecodeFailure(decoder, where);
  }
  Image image(static_cast<int>(decoder.codec.output_width),
              static_cast<int>(decoder.codec.output_height));
  const bool inks = decoder.codec.out_color_space == JCS_CMYK;
  std::vector<uint8_t> ink_rows(inks ? image.rgb.size() / 3 * 4 : 0);
  uint8_t* rows = inks ? ink_rows.data() : image.rgb.data();
  const size_t stride = static_cast<size_t>(image.width) * (inks ? 4 : 3);
  if (!ReadRows(decoder, rows, stride) || decoder.error.hit_end) {
    return DecodeFailure(decoder, where);
  }
  if (inks) InksToRgb(ink_rows, decoder.codec.saw_Adobe_marker != 0, image);
  return Upright(std::move(image), info.orientation);
}

Result<Image> DecodeJpegFile(const std::string& path, const DecodeOptions& options) {
  STOKER_ASSIGN(const std::string bytes, ReadFile(path, kMaxFileBytes));
  return DecodeJpeg(bytes, path, options);
}

namespace {

struct Encoder {
  jpeg_compress_struct codec = {};
  ErrorState error;
  unsigned char* out = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type

  Encoder() { UseErrorState(codec.err, error); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    jpeg_destroy_compress(&codec);
    std::free(out);
  }
};

bool WriteRows(Encoder& encoder, const Image& image, int quality) {
  if (setjmp(encoder.error.jump)) return false;
  jpeg_create_compress(&encoder.codec);
  jpeg_mem_dest(&encoder.codec, &encoder.out, &encoder.size);
  encoder.codec.image_width = static_cast<JDIMENSION>(image.width);
  encoder.codec.image_height = static_cast<JDIMENSION>(image.height);
  encoder.codec.input_components = 3;
  encoder.codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder.codec);
  jpeg_set_quality(&encoder.codec, quality, TRUE);
  jpeg_start_compress(&encoder.codec, TRUE);
  while (encoder.codec.next_scanline < encoder.codec.image_height) {
    // libjpeg's interface is not const, but it only reads the row.
    auto* row = const_cast<uint8_t*>(image.at(0, static_cast<int>(encoder.codec.next_scanline)));
    jpeg_write_scanlines(&encoder.codec, &row, 1);
  }
  jpeg_finish_compress(&encoder.codec);
  return true;
}

}  // namespace

Result<std::string> EncodeJpeg(const Image& image, int quality) {
  if (image.empty()) return Invalid("an empty picture cannot be encoded");
  Encoder encoder;
  if (!WriteRows(encoder, image, quality)) {
    return Internal("JPEG encoder: " + Printable(encoder.error.message));
  }
  return std::string(reinterpret_cast<const char*>(encoder.out), encoder.size);
}

}  // namespace stoker::photo
