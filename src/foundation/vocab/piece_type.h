#ifndef PARLANCE_SRC_VOCAB_PIECE_TYPE_H_
#define PARLANCE_SRC_VOCAB_PIECE_TYPE_H_

// The types of SentencePiece's pieces, which GGUF files have taken over.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "vocab/decoder.h"
#include "vocab/table.h"

namespace parlance::vocab {

// ORDER: the numbers of the formats
enum class PieceType : std::uint8_t {
  kNormal = 1,
  kUnknown,
  kControl,
  kUserDefined,
  kUnused,
  kByte,
};

// Nothing if no type has this number.
inline std::optional<PieceType> piece_type(std::uint64_t number) {
  if (number < static_cast<std::uint64_t>(PieceType::kNormal) ||
      number > static_cast<std::uint64_t>(PieceType::kByte)) {
    return std::nullopt;
  }
  return static_cast<PieceType>(number);
}

// Adds a piece of the type kByte.  Error: kBadVocabulary if it names no byte.
inline std::optional<Error> add_byte_piece(std::uint64_t id,
                                           std::string_view piece,
                                           TableBuilder& builder) {
  const std::optional<char> byte = fallback_byte(piece);
  if (!byte) {
    return Error{.code = ErrorCode::kBadVocabulary,
                 .message = "Token " + std::to_string(id) +
                            " has the type of a byte, so it must be spelled "
                            "like \"<0x0A>\"; found " +
                            printable(piece) + "."};
  }
  return builder.add(id, std::string_view(&*byte, 1), Kind::kOrdinary);
}

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_PIECE_TYPE_H_
