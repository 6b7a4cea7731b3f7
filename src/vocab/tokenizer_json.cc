#include "vocab/tokenizer_json.h"

#include <utility>
#include <vector>

#include "parlance/json.h"
#include "vocab/decoder.h"
#include "vocab/json_pointer.h"

namespace parlance::vocab {
namespace {

// The id in `value`, of which kind and sign are checked; how large an id may be
// is the table's business.
Result<std::uint64_t> read_id(const json::Value& value, std::string path) {
  if (value.kind() != json::Kind::kInt && value.kind() != json::Kind::kBigInt) {
    return wrong_type(std::move(path), "an integer as token id", value);
  }
  if (value.kind() == json::Kind::kBigInt || value.as_int() < 0 ||
      value.as_int() > std::int64_t{kMaxId}) {
    std::string found = json::dump(value);
    const bool negative = found.front() == '-';
    if (found.size() > 24) found.replace(24, found.npos, "...");
    return Error{
        .code = negative ? ErrorCode::kBadVocabulary : ErrorCode::kTooLarge,
        .message = "A token id must be from 0 to " + std::to_string(kMaxId) +
                   "; found " + found + ".",
        .path = std::move(path)};
  }
  return static_cast<std::uint64_t>(value.as_int());
}

std::optional<Error> at(std::optional<Error> error, std::string path) {
  if (error) error->path = std::move(path);
  return error;
}

bool flag(const json::Value& token, std::string_view key) {
  const json::Value* value = member(token, key);
  return value != nullptr && value->as_bool();
}

// Added tokens overlay the model.
std::optional<Error> read_added(const json::Value& tokenizer,
                                const Decoder& decoder, TableBuilder& builder,
                                std::vector<bool>& overlaid) {
  const json::Value* list = member(tokenizer, "added_tokens");
  if (list == nullptr) return std::nullopt;
  if (!list->is_array()) return wrong_type("/added_tokens", "an array", *list);
  std::string bytes;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json::Value& token = list->items()[i];
    const std::string path = child("/added_tokens", i);
    if (!token.is_object()) return wrong_type(path, "an object", token);
    const auto content = string_member(token, path, "content");
    if (!content) return content.error();
    const json::Value* id_value = member(token, "id");
    if (id_value == nullptr) return missing_key(path, "id");
    const auto id = read_id(*id_value, child(path, "id"));
    if (!id) return id.error();
    // Upstream ignores an added token without content.
    if (content->empty()) continue;
    decoder.added_bytes(*content, bytes);
    if (auto error = at(
            builder.add(*id, bytes,
                        flag(token, "special") ? Kind::kControl : Kind::kAdded,
                        {.spelling = *content,
                         .strips_left = flag(token, "lstrip"),
                         .strips_right = flag(token, "rstrip")}),
            child(path, "id"))) {
      return error;
    }
    if (overlaid.size() <= *id) overlaid.resize(*id + 1);
    overlaid[*id] = true;
  }
  return std::nullopt;
}

// Adds model pieces where no added token stands.
class PieceAdder {
 public:
  // `overlaid`: by id, whether an added token stands there.
  PieceAdder(const Decoder& decoder, const std::vector<bool>& overlaid,
             TableBuilder& builder)
      : decoder_(decoder), overlaid_(overlaid), builder_(builder) {}

  std::optional<Error> add(std::uint64_t id, std::string_view piece) {
    if (id < overlaid_.size() && overlaid_[id]) return std::nullopt;
    decoder_.bytes(piece, bytes_);
    return builder_.add(id, bytes_, Kind::kOrdinary);
  }

 private:
  const Decoder& decoder_;
  const std::vector<bool>& overlaid_;
  TableBuilder& builder_;
  std::string bytes_;
};

// Unigram: an array of [piece, score]; the id is the index.
std::optional<Error> read_list(const json::Value& vocab, PieceAdder& adder) {
  for (std::size_t id = 0; id < vocab.size(); ++id) {
    const json::Value& entry = vocab.items()[id];
    const auto path = [&] { return child("/model/vocab", id); };
    if (!entry.is_array()) return wrong_type(path(), "an array", entry);
    if (entry.size() == 0 || !entry.items()[0].is_string()) {
      return Error{.code = ErrorCode::kWrongType,
                   .message = "Expected a piece and its score.",
                   .path = path()};
    }
    if (auto error = adder.add(id, entry.items()[0].as_string())) {
      return at(std::move(error), path());
    }
  }
  return std::nullopt;
}

// BPE, WordPiece, WordLevel: piece -> id.
std::optional<Error> read_map(const json::Value& vocab, PieceAdder& adder) {
  for (const json::Member& entry : vocab.members()) {
    const auto path = [&] { return child("/model/vocab", entry.key); };
    if (entry.value.kind() != json::Kind::kInt || entry.value.as_int() < 0 ||
        entry.value.as_int() > std::int64_t{kMaxId}) {
      return read_id(entry.value, path()).error();
    }
    if (auto error = adder.add(static_cast<std::uint64_t>(entry.value.as_int()),
                               entry.key)) {
      return at(std::move(error), path());
    }
  }
  return std::nullopt;
}

std::optional<Error> read_model(const json::Value& tokenizer,
                                PieceAdder& adder) {
  const json::Value* model = member(tokenizer, "model");
  if (model == nullptr) return missing_key("", "model");
  if (!model->is_object()) return wrong_type("/model", "an object", *model);
  const json::Value* vocab = member(*model, "vocab");
  // Old files do not name the type; the vocabulary's shape tells it.
  bool list = vocab != nullptr && vocab->is_array();
  if (member(*model, "type") != nullptr) {
    const auto type = string_member(*model, "/model", "type");
    if (!type) return type.error();
    list = *type == "Unigram";
    if (!list && *type != "BPE" && *type != "WordPiece" &&
        *type != "WordLevel") {
      return Error{.code = ErrorCode::kUnknownName,
                   .message = "The model type " + quoted(*type) +
                              " is unknown; known are BPE, Unigram, WordPiece "
                              "and WordLevel.",
                   .path = "/model/type"};
    }
  }
  if (vocab == nullptr) return missing_key("/model", "vocab");
  if (list) {
    if (!vocab->is_array()) {
      return wrong_type("/model/vocab", "an array of pieces", *vocab);
    }
    return read_list(*vocab, adder);
  }
  if (!vocab->is_object()) {
    return wrong_type("/model/vocab", "an object of pieces", *vocab);
  }
  return read_map(*vocab, adder);
}

}  // namespace

std::optional<Error> read_tokenizer_json(std::string_view text,
                                         const Limits& limits,
                                         TableBuilder& builder) {
  const auto tokenizer = json::parse(text, {.limits = limits});
  if (!tokenizer) return tokenizer.error();
  if (!tokenizer->is_object()) return wrong_type("", "an object", *tokenizer);
  const auto decoder = Decoder::from_json(*tokenizer);
  if (!decoder) return decoder.error();
  builder.set_strip_leading_space(decoder->strips_leading_space());
  std::vector<bool> overlaid;
  if (auto error = read_added(*tokenizer, *decoder, builder, overlaid)) {
    return error;
  }
  PieceAdder adder(*decoder, overlaid, builder);
  return read_model(*tokenizer, adder);
}

}  // namespace parlance::vocab
