// Added tokens are read before the model, because an id of an added token may
// occur in the model too, and then the added token takes precedence.

#include "vocab/tokenizer_json.h"

#include <utility>
#include <vector>

#include "parlance/json.h"
#include "vocab/decoder.h"
#include "vocab/json_pointer.h"

namespace parlance::vocab {
namespace {

// The added tokens of the file and of `more`, by id.  If both list an id, their
// contents must be equal, and the flags of `more` replace the flags of the
// file.
//
// Invariant of the loop: `tokens` has the entries of the file so far, with the
// flags of `more`.  After the loop, insert() adds only the ids that the file
// does not list.
Result<AddedTokens> added_tokens(const json::Value& tokenizer,
                                 const AddedTokens& more) {
  AddedTokens tokens;
  const json::Value* list = member(tokenizer, "added_tokens");
  if (list != nullptr && !list->is_array()) {
    return wrong_type("/added_tokens", "an array", *list);
  }
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const json::Value& value = list->items()[i];
    const std::string path = child("/added_tokens", i);
    const auto token = read_added_token(value, path);
    if (!token) return token.error();
    const json::Value* id_value = member(value, "id");
    if (id_value == nullptr) return missing_key(path, "id");
    const auto id = read_id(*id_value, child(path, "id"));
    if (!id) return id.error();
    // Upstream ignores an added token without content.
    if (token->content.empty()) continue;
    const auto [at, added] = tokens.emplace(*id, *token);
    if (!added) {
      return Error{.code = ErrorCode::kBadVocabulary,
                   .message = "Token id " + std::to_string(*id) +
                              " is given twice, to " +
                              printable(at->second.content) + " and to " +
                              printable(token->content) + ".",
                   .path = child(path, "id")};
    }
    const auto other = more.find(*id);
    if (other == more.end()) continue;
    if (other->second.content != at->second.content) {
      return other_content(*id, at->second.content, other->second,
                           child(path, "content"));
    }
    at->second = other->second;
  }
  tokens.insert(more.begin(), more.end());
  return tokens;
}

std::optional<Error> add_all(const AddedTokens& tokens, Decoder& decoder,
                             TableBuilder& builder) {
  std::string bytes;
  for (const auto& [id, token] : tokens) {
    if (auto error = decoder.added_bytes(token.content, bytes)) return error;
    if (auto error =
            at(add_added(id, bytes, token, builder), "/added_tokens")) {
      return error;
    }
  }
  return std::nullopt;
}

// Adds the pieces of the model, except pieces whose id is an added token's.
class PieceAdder {
 public:
  PieceAdder(Decoder& decoder, const AddedTokens& added, TableBuilder& builder)
      : decoder_(decoder), added_(added), builder_(builder) {}

  std::optional<Error> add(std::uint64_t id, std::string_view piece) {
    if (builder_.has(id) && added_.contains(id)) return std::nullopt;
    if (auto error = decoder_.bytes(piece, bytes_)) return error;
    return builder_.add(id, bytes_, Kind::kOrdinary);
  }

 private:
  Decoder& decoder_;
  const AddedTokens& added_;
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
  // Old files do not name the type; then the JSON type of the vocabulary
  // decides.
  bool list = vocab != nullptr && vocab->is_array();
  if (member(*model, "type") != nullptr) {
    const auto type = string_member(*model, "/model", "type");
    if (!type) return type.error();
    list = *type == "Unigram";
    if (!list && *type != "BPE" && *type != "WordPiece" &&
        *type != "WordLevel") {
      return Error{.code = ErrorCode::kUnknownName,
                   .message = "The model type " + printable(*type) +
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

std::optional<Error> read_tokenizer_json(const json::Value& tokenizer,
                                         const AddedTokens& more,
                                         TableBuilder& builder) {
  if (!tokenizer.is_object()) return wrong_type("", "an object", tokenizer);
  auto decoder = Decoder::from_json(tokenizer);
  if (!decoder) return decoder.error();
  builder.set_strip_leading_space(decoder->strips_leading_space());
  builder.set_space_after_marks(decoder->space_after_marks());
  const auto added = added_tokens(tokenizer, more);
  if (!added) return added.error();
  if (auto error = add_all(*added, *decoder, builder)) return error;
  PieceAdder adder(*decoder, *added, builder);
  return read_model(tokenizer, adder);
}

}  // namespace parlance::vocab
