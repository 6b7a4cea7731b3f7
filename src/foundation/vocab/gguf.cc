// Reads the header of a GGUF file in one pass.  Cursor reads numbers and
// strings and never reads beyond the bytes.  Reader fills a Header with the
// pairs that define the tokenizer and skips all others.  TokenWriter converts
// the text and type of each token to bytes and kind.

#include "vocab/gguf.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vocab/decoder.h"
#include "vocab/piece_type.h"

namespace parlance::vocab {
namespace {

constexpr std::string_view kMagic = "GGUF";

// ORDER: the numbers of the format's types
enum class Type : std::uint8_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};
constexpr std::uint32_t kTypes = 13;
// The bytes of one value; 0 for a type without a fixed size.
constexpr std::array<std::uint8_t, kTypes> kSizes = {1, 1, 2, 2, 4, 4, 4,
                                                     1, 0, 0, 8, 8, 8};

Error bad(std::string message) {
  return Error{.code = ErrorCode::kBadVocabulary,
               .message = std::move(message)};
}

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {}

  // Each function returns false, and changes nothing, if too few bytes are
  // left.
  bool number(std::size_t bytes, std::uint64_t& out) {
    if (rest_.size() < bytes) return false;
    out = 0;
    for (std::size_t i = bytes; i-- > 0;) {
      out = out << 8 | static_cast<unsigned char>(rest_[i]);
    }
    rest_.remove_prefix(bytes);
    return true;
  }
  bool string(std::string_view& out) {
    Cursor ahead = *this;
    std::uint64_t size = 0;
    if (!ahead.number(8, size) || !ahead.skip(size)) return false;
    out = rest_.substr(8, static_cast<std::size_t>(size));
    *this = ahead;
    return true;
  }
  bool skip(std::uint64_t bytes) {
    if (rest_.size() < bytes) return false;
    rest_.remove_prefix(static_cast<std::size_t>(bytes));
    return true;
  }

  std::size_t left() const { return rest_.size(); }
  std::size_t position() const { return size_ - rest_.size(); }

 private:
  std::string_view rest_;
  std::size_t size_;
};

// An array of the header.  Its values are decoded later, from their bytes.
struct List {
  Type type = Type::kUint8;
  std::uint64_t count = 0;
  Cursor values{{}};
};

// ORDER: kStopKeys
struct Header {
  std::string_view model;
  std::string_view pre;
  std::optional<List> tokens;
  std::optional<List> types;
  std::array<std::optional<std::uint64_t>, 3> stops;
  std::optional<bool> space_prefix;
};
// The keys that are read; a second one would decide silently.
constexpr std::array<std::string_view, 8> kKeys = {
    "tokenizer.ggml.model",        "tokenizer.ggml.pre",
    "tokenizer.ggml.tokens",       "tokenizer.ggml.token_type",
    "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id", "tokenizer.ggml.add_space_prefix"};
// The keys that name ids which end a response, a turn or a message.
constexpr std::array<std::string_view, 3> kStopKeys = {
    "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id"};

class Reader {
 public:
  Reader(std::string_view bytes, bool& truncated)
      : at_(bytes), truncated_(truncated) {}

  std::optional<Error> read(Header& header) {
    std::uint64_t version = 0;
    std::uint64_t tensors = 0;
    std::uint64_t pairs = 0;
    if (!at_.skip(kMagic.size()) || !at_.number(4, version)) return cut_off();
    if (version != 2 && version != 3) {
      return Error{.code = ErrorCode::kUnsupportedVersion,
                   .message = "The GGUF version " + std::to_string(version) +
                              " is not supported; supported are 2 and 3, "
                              "little-endian."};
    }
    if (!at_.number(8, tensors) || !at_.number(8, pairs)) return cut_off();
    // Each pair takes at least one byte, so the loop ends when the bytes end,
    // whatever `pairs` claims.
    for (std::uint64_t i = 0; i < pairs; ++i) {
      if (auto error = read_pair(header)) return error;
    }
    return std::nullopt;
  }

 private:
  Error cut_off() {
    truncated_ = true;
    return bad("The GGUF header is cut off: at byte " +
               std::to_string(at_.position()) + " it announces more than the " +
               std::to_string(at_.left()) + " bytes that are left.");
  }

  Error wrong(std::string_view key, std::string_view expected) const {
    return Error{.code = ErrorCode::kWrongType,
                 .message = std::string(key) + " must be " +
                            std::string(expected) + "."};
  }

  std::optional<Error> read_type(std::string_view key, Type& type) {
    std::uint64_t number = 0;
    if (!at_.number(4, number)) return cut_off();
    if (number >= kTypes) {
      return bad("The value of " + printable(key) + " has the type " +
                 std::to_string(number) + ", which GGUF does not have.");
    }
    type = static_cast<Type>(number);
    return std::nullopt;
  }

  std::optional<Error> read_pair(Header& header) {
    std::string_view key;
    Type type{};
    if (!at_.string(key)) return cut_off();
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (key == kKeys[i] && std::exchange(seen_[i], true)) {
        return bad(std::string(key) + " is given twice.");
      }
    }
    if (auto error = read_type(key, type)) return error;
    if (key == "tokenizer.ggml.model") {
      return read_name(key, type, header.model);
    }
    if (key == "tokenizer.ggml.pre") return read_name(key, type, header.pre);
    if (key == "tokenizer.ggml.tokens") {
      return read_list(key, type, Type::kString, "strings", header.tokens);
    }
    if (key == "tokenizer.ggml.token_type") {
      return read_list(key, type, Type::kInt32, "32-bit integers",
                       header.types);
    }
    if (key == "tokenizer.ggml.add_space_prefix") {
      std::uint64_t value = 0;
      if (type != Type::kBool) return wrong(key, "a boolean");
      if (!at_.number(1, value)) return cut_off();
      header.space_prefix = value != 0;
      return std::nullopt;
    }
    for (std::size_t i = 0; i < kStopKeys.size(); ++i) {
      if (key == kStopKeys[i]) return read_id(key, type, header.stops[i]);
    }
    return skip_value(key, type);
  }

  std::optional<Error> read_name(std::string_view key, Type type,
                                 std::string_view& out) {
    if (type != Type::kString) return wrong(key, "a string");
    if (!at_.string(out)) return cut_off();
    return std::nullopt;
  }

  std::optional<Error> read_id(std::string_view key, Type type,
                               std::optional<std::uint64_t>& out) {
    const bool integer = type != Type::kFloat32 && type != Type::kFloat64 &&
                         type != Type::kBool && type != Type::kString &&
                         type != Type::kArray;
    if (!integer) return wrong(key, "an integer");
    const std::size_t bytes = kSizes[static_cast<std::size_t>(type)];
    std::uint64_t id = 0;
    if (!at_.number(bytes, id)) return cut_off();
    // All ones is -1 in every size and means that there is no such token.
    const std::uint64_t none = ~std::uint64_t{0} >> (64 - 8 * bytes);
    if (id != none) out = id;
    return std::nullopt;
  }

  std::optional<Error> read_list(std::string_view key, Type type, Type wanted,
                                 std::string_view name,
                                 std::optional<List>& out) {
    const std::string expected = "a list of " + std::string(name);
    if (type != Type::kArray) return wrong(key, expected);
    List list;
    if (auto error = read_type(key, list.type)) return error;
    if (list.type != wanted) return wrong(key, expected);
    if (!at_.number(8, list.count)) return cut_off();
    list.values = at_;
    if (auto error = skip_values(list.type, list.count)) return error;
    out = list;
    return std::nullopt;
  }

  std::optional<Error> skip_value(std::string_view key, Type type) {
    if (type != Type::kArray) return skip_values(type, 1);
    Type inner{};
    std::uint64_t count = 0;
    if (auto error = read_type(key, inner)) return error;
    if (inner == Type::kArray) {
      return bad("The value of " + printable(key) +
                 " is a list of lists, which is not supported.");
    }
    if (!at_.number(8, count)) return cut_off();
    return skip_values(inner, count);
  }

  std::optional<Error> skip_values(Type type, std::uint64_t count) {
    if (type == Type::kString) {
      // A string takes eight bytes at least.
      if (count > at_.left() / 8) return cut_off();
      std::string_view skipped;
      for (std::uint64_t i = 0; i < count; ++i) {
        if (!at_.string(skipped)) return cut_off();
      }
      return std::nullopt;
    }
    const std::uint64_t size = kSizes[static_cast<std::size_t>(type)];
    if (count > at_.left() / size) return cut_off();
    at_.skip(count * size);
    return std::nullopt;
  }

  Cursor at_;
  bool& truncated_;
  std::array<bool, kKeys.size()> seen_ = {};
};

// How the tokenizer's pieces spell bytes.
enum class Pieces : std::uint8_t { kByteLevel, kSpaces, kEscapes, kVerbatim };

struct Model {
  std::string_view name;
  Pieces pieces;
  bool space_prefix;  // the default if the file does not define it
};
constexpr std::array<Model, 7> kModels = {{
    {"gpt2", Pieces::kByteLevel, false},
    {"llama", Pieces::kSpaces, true},
    {"gemma4", Pieces::kSpaces, false},
    {"bert", Pieces::kSpaces, false},
    {"t5", Pieces::kSpaces, false},
    {"rwkv", Pieces::kEscapes, false},
    {"plamo2", Pieces::kVerbatim, false},
}};

// Decodes the escapes of RWKV's tokens: \t, \n, \r, \xNN, and a backslash
// before any other character that must be escaped.  Null if \x has no digits.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'x') {
      unsigned byte = 0;
      const char* const begin = text.data() + i + 1;
      if (text.size() - i <= 2 ||
          std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) {
        return std::nullopt;
      }
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
    }
  }
  return out;
}

class TokenWriter {
 public:
  TokenWriter(Pieces pieces, TableBuilder& builder)
      : pieces_(pieces),
        decoder_(pieces == Pieces::kByteLevel ? Decoder::byte_level()
                                              : Decoder::spaces()),
        builder_(builder) {}

  std::optional<Error> add(std::uint64_t id, std::string_view text,
                           std::uint64_t type) {
    switch (piece_type(type).value_or(PieceType::kUnused)) {
      case PieceType::kNormal:
        return add_piece(id, text);
      case PieceType::kUnknown:
      case PieceType::kControl:
        return builder_.add(id, text, Kind::kControl);
      case PieceType::kUserDefined:
        return builder_.add(id, text, Kind::kAdded);
      case PieceType::kByte:
        return add_byte_piece(id, text, builder_);
      case PieceType::kUnused:
        break;
    }
    return builder_.pad(id + 1);
  }

 private:
  std::optional<Error> add_piece(std::uint64_t id, std::string_view text) {
    if (pieces_ == Pieces::kVerbatim) {
      return builder_.add(id, text, Kind::kOrdinary);
    }
    if (pieces_ == Pieces::kEscapes) {
      const std::optional<std::string> bytes = unescaped(text);
      if (bytes) return builder_.add(id, *bytes, Kind::kOrdinary);
      return bad("Token " + std::to_string(id) +
                 " has \"\\x\" without two hexadecimal digits after it: " +
                 printable(text) + ".");
    }
    if (auto error = decoder_.bytes(text, bytes_)) return error;
    return builder_.add(id, bytes_, Kind::kOrdinary);
  }

  Pieces pieces_;
  Decoder decoder_;
  TableBuilder& builder_;
  std::string bytes_;
};

std::optional<Error> check(const Header& header) {
  if (header.model.empty()) {
    return Error{.code = ErrorCode::kMissingKey,
                 .message = "The GGUF header has no tokenizer.ggml.model."};
  }
  if (!header.tokens) {
    return Error{.code = ErrorCode::kMissingKey,
                 .message = "The GGUF header has no tokenizer.ggml.tokens."};
  }
  if (header.types && header.types->count < header.tokens->count) {
    return bad("tokenizer.ggml.token_type has " +
               std::to_string(header.types->count) + " entries for " +
               std::to_string(header.tokens->count) + " tokens.");
  }
  return std::nullopt;
}

const Model* find_model(std::string_view name) {
  for (const Model& model : kModels) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

}  // namespace

bool is_gguf(std::string_view bytes) { return bytes.starts_with(kMagic); }

// The steps are: read and check the header, find out how the model's pieces
// spell bytes, add the tokens, add the stop ids, and set the properties of the
// text.  `truncated` can become true in the first step only.
std::optional<Error> read_gguf(std::string_view bytes, bool& truncated,
                               TableBuilder& builder) {
  truncated = false;
  Header header;
  if (auto error = Reader(bytes, truncated).read(header)) return error;
  if (auto error = check(header)) return error;
  const Model* model = find_model(header.model);
  if (model == nullptr) {
    return Error{.code = ErrorCode::kUnknownName,
                 .message = "The tokenizer.ggml.model " +
                            printable(header.model) +
                            " is not supported; supported are gpt2, llama, "
                            "gemma4, bert, t5, rwkv and plamo2."};
  }
  // These tokenizers are byte-level BPE by their model's name, but write spaces
  // as SentencePiece does.
  const bool spaces = header.pre == "gemma4" || header.pre == "sarvam-moe" ||
                      header.pre == "granite-embed-multi-311m";
  const Pieces pieces = model->pieces == Pieces::kByteLevel && spaces
                            ? Pieces::kSpaces
                            : model->pieces;
  TokenWriter writer(pieces, builder);
  Cursor tokens = header.tokens->values;
  Cursor types = header.types ? header.types->values : Cursor({});
  // The reader has skipped over both arrays, so all their values are present:
  // reads from the cursors below cannot fail, and the count is bounded by the
  // size of the file.
  builder.reserve(static_cast<std::size_t>(header.tokens->count),
                  bytes.size() / 4);
  for (std::uint64_t id = 0; id < header.tokens->count; ++id) {
    std::string_view text;
    auto type = static_cast<std::uint64_t>(PieceType::kNormal);
    tokens.string(text);
    if (header.types) types.number(4, type);
    if (auto error = writer.add(id, text, type)) {
      return error;
    }
  }
  for (std::size_t i = 0; i < kStopKeys.size(); ++i) {
    if (!header.stops[i]) continue;
    if (auto error = builder.add_stop(*header.stops[i])) {
      error->message = std::string(kStopKeys[i]) + ": " + error->message;
      return error;
    }
  }
  const bool prefix = header.space_prefix.value_or(model->space_prefix);
  builder.set_strip_leading_space(prefix);
  // Only for this model does llama.cpp put a space after every special token.
  builder.set_space_after_marks(prefix && header.model == "llama");
  return std::nullopt;
}

}  // namespace parlance::vocab
