#include "compression.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "io.h"

#if PARLANCE_HAS_ZLIB
#include <zlib.h>
#endif
#if PARLANCE_HAS_ZSTD
#include <zstd.h>
#endif

namespace parlance::cli {
namespace {}  // namespace

Compression compression_of(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x1f\x8b"sv)) return Compression::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::kZstd;
  // A frame of zstd that readers skip.
  if (bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 &&
      bytes.substr(1, 3) == "\x2a\x4d\x18"sv) {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

Compression compression_of_name(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::kGzip;
  if (path.ends_with(".zst") || path.ends_with(".zstd")) {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

void need_compression([[maybe_unused]] Compression compression,
                      const std::string& name) {
  std::string_view kind, library, package;
#if !PARLANCE_HAS_ZLIB
  if (compression == Compression::kGzip) {
    kind = "gzip", library = "zlib", package = "zlib1g-dev";
  }
#endif
#if !PARLANCE_HAS_ZSTD
  if (compression == Compression::kZstd) {
    kind = "zstd", library = "libzstd", package = "libzstd-dev";
  }
#endif
  if (kind.empty()) return;
  throw Failure(name + ": this parlance was built without " +
                std::string(library) + ", which " + std::string(kind) +
                " takes; install it (on Debian, " + std::string(package) +
                ") and build parlance again");
}

// -----------------------------------------------------------------------------

class Decoder::Impl {
 public:
  explicit Impl(Compression compression) : compression_(compression) {
#if PARLANCE_HAS_ZLIB
    // 15 + 16: a window of any size, and the header of gzip.
    if (compression_ == Compression::kGzip &&
        inflateInit2(&zlib_, 31) != Z_OK) {
      throw std::bad_alloc();
    }
#endif
#if PARLANCE_HAS_ZSTD
    if (compression_ == Compression::kZstd) {
      zstd_ = ZSTD_createDCtx();
      if (zstd_ == nullptr) throw std::bad_alloc();
      // As much as `zstd --long=31` makes.
      ZSTD_DCtx_setParameter(zstd_, ZSTD_d_windowLogMax, 31);
    }
#endif
  }
  ~Impl() {
#if PARLANCE_HAS_ZLIB
    if (compression_ == Compression::kGzip) inflateEnd(&zlib_);
#endif
#if PARLANCE_HAS_ZSTD
    if (zstd_ != nullptr) ZSTD_freeDCtx(zstd_);
#endif
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::size_t decode(std::string_view& input, char* out, std::size_t capacity) {
    std::size_t written = 0;
    // A frame may have output left when its input is used up.
    bool more = true;
    while (written < capacity && (more || !input.empty()) && fault_.empty()) {
      const std::size_t before = input.size();
      const std::size_t n =
          compression_ == Compression::kGzip
              ? inflate_some(input, out + written, capacity - written)
              : decompress_some(input, out + written, capacity - written);
      written += n;
      more = n > 0;
      if (n == 0 && input.size() == before) break;
    }
    return written;
  }

  bool inside() const { return inside_; }

  std::string fault(bool ended) const {
    if (!fault_.empty() || !ended || !inside_) return fault_;
    return "the file ends in the middle of its " + kind() + " data";
  }

 private:
  std::string kind() const {
    return compression_ == Compression::kGzip ? "gzip" : "zstd";
  }

  // `inside`: in a member or frame, not between two of them.
  void set_fault(bool inside) {
    inside_ = inside || members_ == 0;
    fault_ = inside_ ? "the " + kind() + " data is damaged"
                     : "after the " + kind() + " data are bytes that are none";
  }

  std::size_t inflate_some([[maybe_unused]] std::string_view& input,
                           [[maybe_unused]] char* out,
                           [[maybe_unused]] std::size_t capacity) {
#if PARLANCE_HAS_ZLIB
    if (!inside_) {
      // Zeros may pad a file, as gzip allows.
      input.remove_prefix(
          std::min(input.find_first_not_of('\0'), input.size()));
      if (input.empty()) return 0;
      inflateReset(&zlib_);
      inside_ = true;
      begun_ = input.front() == '\x1f';
    }
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const auto in = static_cast<uInt>(std::min(input.size(), kMost));
    const auto room = static_cast<uInt>(std::min(capacity, kMost));
    // zlib reads through the pointer only.
    zlib_.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // NOLINT
    zlib_.avail_in = in;
    zlib_.next_out = reinterpret_cast<Bytef*>(out);
    zlib_.avail_out = room;
    const int status = ::inflate(&zlib_, Z_NO_FLUSH);
    input.remove_prefix(in - zlib_.avail_in);
    if (status == Z_STREAM_END) {
      inside_ = false;
      ++members_;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      set_fault(begun_);
    }
    return room - zlib_.avail_out;
#else
    return 0;
#endif
  }

  std::size_t decompress_some([[maybe_unused]] std::string_view& input,
                              [[maybe_unused]] char* out,
                              [[maybe_unused]] std::size_t capacity) {
#if PARLANCE_HAS_ZSTD
    if (input.empty() && !inside_) return 0;
    ZSTD_inBuffer from = {input.data(), input.size(), 0};
    ZSTD_outBuffer to = {out, capacity, 0};
    const std::size_t left = ZSTD_decompressStream(zstd_, &to, &from);
    input.remove_prefix(from.pos);
    if (ZSTD_isError(left) != 0) {
      set_fault(inside_);
      return to.pos;
    }
    // 0: a frame is complete and all of it is written.
    inside_ = left != 0;
    if (!inside_) ++members_;
    return to.pos;
#else
    return 0;
#endif
  }

  Compression compression_;
  std::string fault_;
  bool inside_ = false;                  // of a member or frame
  std::size_t members_ = 0;              // that are complete
  [[maybe_unused]] bool begun_ = false;  // the member begins as one does
#if PARLANCE_HAS_ZLIB
  z_stream zlib_ = {};
#endif
#if PARLANCE_HAS_ZSTD
  ZSTD_DCtx* zstd_ = nullptr;
#endif
};

Decoder::Decoder(Compression compression)
    : impl_(std::make_unique<Impl>(compression)) {}
Decoder::~Decoder() = default;

std::size_t Decoder::decode(std::string_view& input, char* out,
                            std::size_t capacity) {
  return impl_->decode(input, out, capacity);
}
bool Decoder::inside() const { return impl_->inside(); }
std::string Decoder::fault(bool ended) const { return impl_->fault(ended); }

// -----------------------------------------------------------------------------

class Encoder::Impl {
 public:
  explicit Impl(Compression compression) : compression_(compression) {
#if PARLANCE_HAS_ZLIB
    if (compression_ == Compression::kGzip &&
        deflateInit2(&zlib_, kGzipLevel, Z_DEFLATED, 31, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
#endif
#if PARLANCE_HAS_ZSTD
    if (compression_ == Compression::kZstd) {
      zstd_ = ZSTD_createCCtx();
      if (zstd_ == nullptr) throw std::bad_alloc();
      ZSTD_CCtx_setParameter(zstd_, ZSTD_c_checksumFlag, 1);
    }
#endif
  }
  ~Impl() {
#if PARLANCE_HAS_ZLIB
    if (compression_ == Compression::kGzip) deflateEnd(&zlib_);
#endif
#if PARLANCE_HAS_ZSTD
    if (zstd_ != nullptr) ZSTD_freeCCtx(zstd_);
#endif
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::string encode([[maybe_unused]] std::string_view text) {
    std::string out;
#if PARLANCE_HAS_ZLIB
    if (compression_ == Compression::kGzip) {
      deflateReset(&zlib_);
      int status = Z_OK;
      std::size_t used = 0;
      while (status != Z_STREAM_END) {
        constexpr std::size_t kMost = std::size_t{1} << 30;
        const auto in = static_cast<uInt>(std::min(text.size(), kMost));
        zlib_.next_in =
            reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT
        zlib_.avail_in = in;
        if (out.size() == used) out.resize(used + in / 2 + 1024);
        const std::size_t room = std::min(out.size() - used, kMost);
        zlib_.next_out = reinterpret_cast<Bytef*>(out.data() + used);
        zlib_.avail_out = static_cast<uInt>(room);
        status = ::deflate(&zlib_, in == text.size() ? Z_FINISH : Z_NO_FLUSH);
        text.remove_prefix(in - zlib_.avail_in);
        used += room - zlib_.avail_out;
      }
      out.resize(used);
    }
#endif
#if PARLANCE_HAS_ZSTD
    if (compression_ == Compression::kZstd) {
      out.resize(ZSTD_compressBound(text.size()));
      const std::size_t n = ZSTD_compress2(zstd_, out.data(), out.size(),
                                           text.data(), text.size());
      if (ZSTD_isError(n) != 0) throw std::bad_alloc();
      out.resize(n);
    }
#endif
    return out;
  }

 private:
  // A level that keeps up with the parsing.
  [[maybe_unused]] static constexpr int kGzipLevel = 4;
  [[maybe_unused]] Compression compression_;
#if PARLANCE_HAS_ZLIB
  z_stream zlib_ = {};
#endif
#if PARLANCE_HAS_ZSTD
  ZSTD_CCtx* zstd_ = nullptr;
#endif
};

Encoder::Encoder(Compression compression) {
  if (compression != Compression::kNone) {
    impl_ = std::make_unique<Impl>(compression);
  }
}
Encoder::~Encoder() = default;

std::string Encoder::encode(std::string_view text) {
  return impl_ == nullptr ? std::string(text) : impl_->encode(text);
}

}  // namespace parlance::cli
