#ifndef PARLANCE_CLI_COMPRESSION_H_
#define PARLANCE_CLI_COMPRESSION_H_

// gzip and zstd, where the command is built with zlib and libzstd.
//
// What is written is a sequence of independent gzip members or zstd frames, one
// for each call of encode().  So threads can compress parts of one output, and
// an output that is cut between two calls is whole.  What is read may have any
// number of members or frames.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace parlance::cli {

enum class Compression { kNone, kGzip, kZstd };

// The number of bytes by which compression_of() recognises a compressed file.
constexpr std::size_t kMagicBytes = 4;
// By the first bytes.
Compression compression_of(std::string_view bytes);
// By the end of the name: .gz, .zst.
Compression compression_of_name(std::string_view path);
// Throws Failure, which names the library, if the command was built without it.
void need_compression(Compression compression, const std::string& name);

// Decompresses a stream.
class Decoder {
 public:
  // REQUIRES: need_compression() does not throw.
  explicit Decoder(Compression compression);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Writes up to `capacity` bytes and removes from `input` what they were made
  // of.  A result that is smaller than `capacity` needs more input, or the
  // input is damaged there: see fault().
  std::size_t decode(std::string_view& input, char* out, std::size_t capacity);
  // What is wrong with the input, "" for nothing; `ended`: and there is no more
  // of it.
  std::string fault(bool ended) const;
  // Whether a member or frame is not complete.
  bool inside() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Compresses; one per thread.
class Encoder {
 public:
  // kNone: encode() copies.  REQUIRES: need_compression() does not throw.
  explicit Encoder(Compression compression);
  ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // `text` as one member or frame.
  std::string encode(std::string_view text);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_COMPRESSION_H_
