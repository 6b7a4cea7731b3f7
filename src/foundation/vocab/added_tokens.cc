#include "vocab/added_tokens.h"

#include <utility>

#include "vocab/json_pointer.h"

namespace parlance::vocab {
namespace {

bool flag(const json::Value& token, std::string_view key) {
  const json::Value* value = member(token, key);
  return value != nullptr && value->as_bool();
}

}  // namespace

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

Result<AddedToken> read_added_token(const json::Value& value,
                                    const std::string& path) {
  if (!value.is_object()) return wrong_type(path, "an object", value);
  const auto content = string_member(value, path, "content");
  if (!content) return content.error();
  return AddedToken{.content = std::string(*content),
                    .special = flag(value, "special"),
                    .strips_left = flag(value, "lstrip"),
                    .strips_right = flag(value, "rstrip")};
}

Error other_content(std::uint64_t id, std::string_view spelling,
                    const AddedToken& other, std::string path) {
  return Error{.code = ErrorCode::kConflict,
               .message = "Token id " + std::to_string(id) + " is " +
                          printable(spelling) + " here and " +
                          printable(other.content) +
                          " in tokenizer_config.json.",
               .path = std::move(path)};
}

std::optional<Error> add_added(std::uint64_t id, std::string_view bytes,
                               const AddedToken& token, TableBuilder& builder) {
  return builder.add(id, bytes, token.special ? Kind::kControl : Kind::kAdded,
                     {.spelling = token.content,
                      .strips_left = token.strips_left,
                      .strips_right = token.strips_right});
}

std::optional<Error> add_listed(const ListedToken& token,
                                const AddedTokens& added,
                                const std::string& path,
                                TableBuilder& builder) {
  const auto found = added.find(token.id);
  if (found == added.end()) {
    return builder.add(token.id, token.bytes, token.kind,
                       {.spelling = token.spelling});
  }
  if (found->second.content != token.spelling) {
    return other_content(token.id, token.spelling, found->second, path);
  }
  return add_added(token.id, token.bytes, found->second, builder);
}

std::optional<Error> add_others(const AddedTokens& added,
                                TableBuilder& builder) {
  for (const auto& [id, token] : added) {
    if (builder.has(id)) continue;
    if (auto error = add_added(id, token.content, token, builder)) return error;
  }
  return std::nullopt;
}

}  // namespace parlance::vocab
