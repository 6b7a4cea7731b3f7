#ifndef PARLANCE_SRC_VOCAB_DECODER_H_
#define PARLANCE_SRC_VOCAB_DECODER_H_

// The decoder section of a tokenizer.json, as a function from one token to its
// bytes.
//
// Upstream, a decoder maps the list of all pieces of a text to the text, so the
// result for a piece may depend on its neighbours and its position.  Here a
// decoder must map one piece to its bytes, because a stream is decoded token by
// token.  Most pipelines are such functions, except perhaps for the first piece
// of a text.
//
//   ["Ġthe"]       ByteLevel                            -> " the"
//   ["▁the"]       Replace ▁, ByteFallback, Fuse, Strip -> " the"
//   ["<0x0A>"]     the same                             -> "\n"
//   ["the"]        WordPiece                            -> " the"
//   ["##ing"]      the same                             -> "ing"
//
// The only supported exception is one space that upstream removes from the
// beginning of a text: see strips_leading_space().  Any other pipeline that is
// not a function of one piece is refused, with the name and the path of the
// stage.
// docs/reference/vocabularies.md lists every stage, refusal and difference.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::vocab {

class Decoder {
 public:
  // Reads "decoder", and the parts of "normalizer", "pre_tokenizer" and "model"
  // that affect decoding.
  // REQUIRES: tokenizer.is_object().
  static Result<Decoder> from_json(const json::Value& tokenizer);

  // Decoders for sources without a decoder section.  They decode GPT-2's byte
  // table; U+2581 as a space; and U+2581 as a space and "<0x0A>" as a byte.
  static Decoder byte_level();
  static Decoder spaces();
  static Decoder byte_fallback();

  // Replaces `out` by the bytes of `piece`.  Error: kTooLarge if a stage makes
  // a piece too large, or if the stages have processed too many bytes in all
  // calls together.
  std::optional<Error> bytes(std::string_view piece, std::string& out);

  // Replaces `out` by the bytes of an added token.  The stages are those of
  // bytes(), except that no stage adds a space before the token.
  std::optional<Error> added_bytes(std::string_view content, std::string& out);

  // Whether upstream removes the leading space of a text, which bytes() gives
  // to the first piece.
  bool strips_leading_space() const { return strips_leading_space_; }

  // Whether upstream puts a space before each text that follows an added token.
  bool space_after_marks() const { return space_after_marks_; }

 private:
  friend class DecoderReader;

  enum class Step : std::uint8_t {
    kByteLevel,     // GPT-2's table, or the piece as it is
    kByteFallback,  // "<0x0A>" is a byte, and final
    kReplace,       // every `from` becomes `to`
    kStrip,         // removes `from` up to `start` and `stop` times at the ends
    kWordPiece,     // removes the prefix `from`, or else adds a space before
    kSpaceBefore,   // adds a space before
  };
  struct Stage {
    Step step;
    std::string from = {};
    std::string to = {};
    std::size_t start = 0;
    std::size_t stop = 0;
  };

  std::optional<Error> run(bool set_off, std::string& out);

  std::vector<Stage> stages_;
  std::uint64_t work_ = 0;  // bytes that the stages have processed
  bool strips_leading_space_ = false;
  bool space_after_marks_ = false;
};

// The byte that "<0xNN>" names.
std::optional<char> fallback_byte(std::string_view piece);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_DECODER_H_
