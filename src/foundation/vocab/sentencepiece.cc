// Fields iterates over the fields of a message and never reads beyond its
// bytes.  ModelReader first reads all fields, because what the trainer says
// about the pieces comes after them, and then adds the tokens.

#include "vocab/sentencepiece.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vocab/decoder.h"
#include "vocab/piece_type.h"

namespace parlance::vocab {
namespace {

Error bad(std::string message, Span span) {
  return Error{.code = ErrorCode::kBadVocabulary,
               .message = std::move(message) + ".",
               .span = span};
}

struct Message {
  std::string_view bytes;
  std::size_t begin = 0;  // in the file

  Span span() const { return {begin, begin + bytes.size()}; }
};

struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;              // of a number
  std::optional<Message> message = {};  // of anything with a size
  Span span = {};
};

class Fields {
 public:
  explicit Fields(Message message) : at_(message) {}

  // Reads the next field; false at the end, or at an error.
  bool next(Field& field) {
    const std::size_t begin = at_.begin;
    if (at_.bytes.empty()) return false;
    field = {};
    std::uint64_t key = 0;
    if (!varint(key)) return fail("A number is cut off or too long", begin);
    field.number = key >> 3;
    if (field.number == 0) return fail("A field has the number 0", begin);
    std::uint64_t size = 0;
    // The wire types of Protocol Buffers: 0 varint, 1 eight bytes, 2 a size and
    // as many bytes, 5 four bytes.  3 and 4 are groups, which models do not
    // use.
    switch (key & 7) {
      case 0:
        if (!varint(field.value)) {
          return fail("A number is cut off or too long", begin);
        }
        break;
      case 1:
        if (!skip(8)) return fail("A number is cut off", begin);
        break;
      case 2:
        if (!varint(size) || size > at_.bytes.size()) {
          return fail("A field is cut off", begin);
        }
        field.message = Message{
            at_.bytes.substr(0, static_cast<std::size_t>(size)), at_.begin};
        skip(size);
        break;
      case 5:
        if (!skip(4)) return fail("A number is cut off", begin);
        break;
      default:
        return fail("A field has a kind that is not supported", begin);
    }
    field.span = {begin, at_.begin};
    return true;
  }

  std::optional<Error>& error() { return error_; }

 private:
  bool fail(std::string_view what, std::size_t begin) {
    error_ = bad(std::string(what), {begin, begin + 1});
    return false;
  }

  bool skip(std::uint64_t bytes) {
    if (at_.bytes.size() < bytes) return false;
    at_.bytes.remove_prefix(static_cast<std::size_t>(bytes));
    at_.begin += static_cast<std::size_t>(bytes);
    return true;
  }

  // Seven bits a byte, the lowest first.
  bool varint(std::uint64_t& out) {
    out = 0;
    // Ten bytes at most; bits beyond the 64th are dropped, as protobuf does.
    for (unsigned shift = 0; shift < 64 && !at_.bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(at_.bytes.front());
      skip(1);
      out |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  Message at_;
  std::optional<Error> error_;
};

// A field's number and what its value must be.
std::optional<Error> wrong_kind(const Field& field, std::string_view expected) {
  return bad("Field " + std::to_string(field.number) + " must be " +
                 std::string(expected),
             field.span);
}

struct Piece {
  std::string_view text;
  PieceType type = PieceType::kNormal;
  Span span = {};
};

struct Model {
  std::vector<Piece> pieces;
  std::string_view end = "</s>";
  bool space_after = false;
  bool space_before = true;
  bool trims = true;
};

// A message inside another that is given twice is merged, field by field, as
// the format requires: each part is read into the same Model.
class ModelReader {
 public:
  std::optional<Error> read(std::string_view file, Model& model) {
    Fields fields({file});
    for (Field field; fields.next(field);) {
      std::optional<Error> error;
      if (field.number <= 3 || field.number == 5) {
        if (!field.message) return wrong_kind(field, "a message");
        switch (field.number) {
          case 1:
            error = read_piece(field, model.pieces);
            break;
          case 2:
            error = read_trainer(*field.message, model);
            break;
          case 3:
            error = read_normaliser(*field.message, model);
            break;
          default:
            error = read_denormaliser(*field.message);
        }
      }
      if (error) return error;
    }
    return fields.error();
  }

 private:
  static std::optional<Error> read_piece(const Field& whole,
                                         std::vector<Piece>& pieces) {
    Piece piece{.text = {}, .span = whole.span};
    Fields fields(*whole.message);
    for (Field field; fields.next(field);) {
      if (field.number == 1) {
        if (!field.message) return wrong_kind(field, "the text of a piece");
        piece.text = field.message->bytes;
      } else if (field.number == 3) {
        const auto type =
            field.message ? std::nullopt : piece_type(field.value);
        if (!type) {
          return wrong_kind(field, "the type of a piece, from 1 to 6");
        }
        piece.type = *type;
      }
    }
    if (fields.error()) return fields.error();
    if (piece.text.empty()) {
      return bad("Piece " + std::to_string(pieces.size()) + " has no text",
                 piece.span);
    }
    pieces.push_back(piece);
    return std::nullopt;
  }

  static std::optional<Error> read_trainer(Message message, Model& model) {
    Fields fields(message);
    for (Field field; fields.next(field);) {
      if (field.number == 24) {
        if (field.message) return wrong_kind(field, "a boolean");
        model.space_after = field.value != 0;
      } else if (field.number == 47) {
        if (!field.message) return wrong_kind(field, "a piece");
        model.end = field.message->bytes;
      }
    }
    return fields.error();
  }

  static std::optional<Error> read_normaliser(Message message, Model& model) {
    Fields fields(message);
    for (Field field; fields.next(field);) {
      if (field.number != 3 && field.number != 4) continue;
      if (field.message) return wrong_kind(field, "a boolean");
      (field.number == 3 ? model.space_before : model.trims) = field.value != 0;
    }
    return fields.error();
  }

  static std::optional<Error> read_denormaliser(Message message) {
    Fields fields(message);
    for (Field field; fields.next(field);) {
      if (field.number != 2 || !field.message || field.message->bytes.empty()) {
        continue;
      }
      return bad(
          "The model has rules that rewrite a decoded text, which cannot be "
          "said per token",
          field.span);
    }
    return fields.error();
  }
};

class PieceAdder {
 public:
  PieceAdder(const AddedTokens& more, TableBuilder& builder)
      : more_(more), builder_(builder) {}

  std::optional<Error> add(std::uint64_t id, const Piece& piece) {
    auto error = add_by_type(id, piece);
    if (error && !error->span) error->span = piece.span;
    return error;
  }

 private:
  std::optional<Error> add_by_type(std::uint64_t id, const Piece& piece) {
    switch (piece.type) {
      case PieceType::kNormal:
        return add_decoded(id, piece.text, Kind::kOrdinary);
      case PieceType::kUserDefined:
        return add_decoded(id, piece.text, Kind::kAdded);
      case PieceType::kUnknown:
      case PieceType::kControl:
        return add_listed({id, piece.text, Kind::kControl, piece.text}, more_,
                          "", builder_);
      case PieceType::kByte:
        return add_byte_piece(id, piece.text, builder_);
      case PieceType::kUnused:
        break;
    }
    return builder_.pad(id + 1);
  }

  std::optional<Error> add_decoded(std::uint64_t id, std::string_view piece,
                                   Kind kind) {
    if (auto error = decoder_.bytes(piece, bytes_)) return error;
    // The tokenizer looks for a user-defined piece in a text whose spaces it
    // has replaced, so that piece is spelled with spaces.  The list of added
    // tokens has it as the model has.
    const bool listed = more_.contains(id);
    return add_listed({id, bytes_, kind, listed ? piece : bytes_}, more_, "",
                      builder_);
  }

  const AddedTokens& more_;
  TableBuilder& builder_;
  Decoder decoder_ = Decoder::spaces();
  std::string bytes_;
};

// The control piece that ends a text.
std::optional<Id> end_of(const Model& model) {
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const Piece& piece = model.pieces[id];
    if (piece.text != model.end) continue;
    // The first piece with that text is the one that a look-up finds.
    if (piece.type != PieceType::kControl) break;
    return static_cast<Id>(id);
  }
  return std::nullopt;
}

}  // namespace

// The keys of pieces, trainer and normaliser, one of which comes first, are
// characters that a text may begin with; but sizes and scores are not text.
bool is_sentencepiece(std::string_view bytes) {
  if (bytes.empty() || std::string_view("\x0A\x12\x1A").find(bytes.front()) ==
                           std::string_view::npos) {
    return false;
  }
  const std::string_view start = bytes.substr(0, 64);
  return std::any_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte >= 0x7F;
  });
}

std::optional<Error> read_sentencepiece(std::string_view file,
                                        const AddedTokens& more,
                                        TableBuilder& builder,
                                        std::optional<Id>& end) {
  Model model;
  if (auto error = ModelReader().read(file, model)) return error;
  if (model.pieces.empty()) {
    return Error{.code = ErrorCode::kEmptyValue,
                 .message = "The SentencePiece model has no piece.",
                 .span = Span{0, file.size()}};
  }
  builder.reserve(model.pieces.size(), file.size() / 2);
  PieceAdder adder(more, builder);
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    if (auto error = adder.add(id, model.pieces[id])) return error;
  }
  if (auto error = add_others(more, builder)) return error;
  end = end_of(model);
  // At the start of a text the decoder removes the space that the tokenizer
  // may have put there, and each text after a control token is a start.
  builder.set_strip_leading_space(model.space_before || model.trims);
  builder.set_space_after_marks(model.space_before && !model.space_after);
  return std::nullopt;
}

}  // namespace parlance::vocab
