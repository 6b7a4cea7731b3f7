#ifndef PARLANCE_SRC_VOCAB_DECODER_H_
#define PARLANCE_SRC_VOCAB_DECODER_H_

// The decoder section of a tokenizer.json, as a rule for one token.
//
// Upstream a decoder maps the list of a text's pieces to the text: it may look
// at neighbours, at positions, at the whole.  Here it must become a function
// from one piece to its bytes, because a stream never sees the whole.  Most
// pipelines are such functions, or are but for the first piece of a text.
//
//   ["Ġthe"]       ByteLevel                            -> " the"
//   ["▁the"]       Replace ▁, ByteFallback, Fuse, Strip -> " the"
//   ["<0x0A>"]     the same                             -> "\n"
//   ["the"]        WordPiece                            -> " the"
//   ["##ing"]      the same                             -> "ing"
//
// The only exception at the first piece is one space, which becomes
// strips_leading_space().  A pipeline that is not a function of one piece is
// refused with the name and the path of the stage.
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

  // Decoders without a section: GPT-2's table; U+2581 for spaces; U+2581 for
  // spaces and "<0x0A>" for a byte.
  static Decoder byte_level();
  static Decoder spaces();
  static Decoder byte_fallback();

  // Replaces `out` by the bytes of `piece`.  Error: kTooLarge where the stages
  // make a piece too large, or have too much to do for all pieces so far.
  std::optional<Error> bytes(std::string_view piece, std::string& out);

  // Replaces `out` by the bytes of an added token.  It goes through the same
  // stages as a piece, but is never set off from its neighbours with a space.
  std::optional<Error> added_bytes(std::string_view content, std::string& out);

  // Whether upstream's text lacks the space that bytes() gives its first piece.
  bool strips_leading_space() const { return strips_leading_space_; }

  // Whether upstream puts a space before each text that follows an added token.
  bool space_after_marks() const { return space_after_marks_; }

 private:
  friend class DecoderReader;

  enum class Step : std::uint8_t {
    kByteLevel,     // GPT-2's table, or the piece as it is
    kByteFallback,  // "<0x0A>" is a byte, and final
    kReplace,       // every `from` becomes `to`
    kStrip,         // up to `start` and `stop` times `from` off the ends
    kWordPiece,     // less the prefix `from`, or else a space before it
    kSpaceBefore,   // the pieces stand apart
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
  std::uint64_t work_ = 0;  // bytes that stages have looked at
  bool strips_leading_space_ = false;
  bool space_after_marks_ = false;
};

// The byte that "<0xNN>" names.
std::optional<char> fallback_byte(std::string_view piece);

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_DECODER_H_
