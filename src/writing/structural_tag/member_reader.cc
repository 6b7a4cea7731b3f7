// Reading the members of an object of a structural tag.

#include "structural_tag/member_reader.h"

#include <algorithm>

#include "json/located.h"

namespace parlance::structural_tag {
namespace {

constexpr std::int64_t kMaxCount = 2147483647;

const json::Array& no_items() {
  static const json::Array empty;
  return empty;
}

}  // namespace

std::optional<std::int64_t> whole_number(const json::Value& value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.kind() == json::Kind::kInt) return value.as_int();
  if (value.kind() != json::Kind::kFloat) return std::nullopt;
  const double number = value.as_float();
  if (!(number >= -kExact && number <= kExact)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(number);
  if (static_cast<double>(whole) != number) return std::nullopt;
  return whole;
}

std::string MemberReader::path_of(std::string_view key) const {
  return json::append_pointer(path_, key);
}

void MemberReader::fail_at(ErrorCode code, std::string path,
                           std::string message) {
  if (error_) return;
  error_ = Error{code, std::string(format_) + ": " + std::move(message),
                 std::move(path)};
}

void MemberReader::fail(ErrorCode code, std::string_view key,
                        std::string message) {
  fail_at(code, path_of(key),
          "'" + std::string(key) + "' " + std::move(message));
}

void MemberReader::only(std::span<const std::string_view> keys) {
  for (const json::Member& member : object_.members()) {
    if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
    std::string names;
    for (const std::string_view key : keys) {
      names += (names.empty() ? "" : ", ") + std::string(key);
    }
    fail(ErrorCode::kUnknownKey, member.key,
         "is no key of this object. Keys are: " + names + ".");
  }
}

const json::Value* MemberReader::find(std::string_view key, Need need) {
  know(key);
  const json::Value* value = object_.find(key);
  if (value == nullptr && need == kRequired && !error_) {
    // A member that is missing has no place: the pointer is that of the object.
    error_ =
        Error{ErrorCode::kMissingKey,
              std::string(format_) + ": '" + std::string(key) + "' is missing.",
              path_};
  }
  return value;
}

std::string MemberReader::text(std::string_view key) {
  const json::Value* value = find(key, kRequired);
  if (value == nullptr) return "";
  if (!value->is_string()) {
    // After an error the value is read as an empty one, here and below.  The
    // caller continues to the end, and then returns the error.
    fail(ErrorCode::kWrongType, key,
         "must be a string, got " + kind_of(*value) + ".");
  }
  return std::string(value->as_string());
}

std::string MemberReader::non_empty_text(std::string_view key) {
  std::string out = text(key);
  if (out.empty()) fail(ErrorCode::kEmptyValue, key, "must not be empty.");
  return out;
}

std::string MemberReader::name(std::string_view key) {
  return find(key, kOptional) == nullptr ? "" : non_empty_text(key);
}

std::vector<std::string> MemberReader::texts(std::string_view key, Need need) {
  std::vector<std::string> out;
  const json::Value* value = find(key, need);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    fail(ErrorCode::kWrongType, key,
         "must be a list of strings, got " + kind_of(*value) + ".");
    return out;
  }
  if (value->items().empty() && need == kRequired) {
    fail(ErrorCode::kEmptyValue, key, "must have at least one string.");
  }
  for (std::size_t i = 0; i < value->items().size(); ++i) {
    const json::Value& item = value->items()[i];
    if (!item.is_string()) {
      fail_at(ErrorCode::kWrongType, json::append_pointer(path_of(key), i),
              "'" + std::string(key) + "' must hold only strings, got " +
                  kind_of(item) + ".");
    } else if (item.as_string().empty()) {
      fail_at(ErrorCode::kEmptyValue, json::append_pointer(path_of(key), i),
              "'" + std::string(key) + "' must hold no empty string.");
    }
    out.emplace_back(item.as_string());
  }
  return out;
}

bool MemberReader::flag(std::string_view key, bool otherwise) {
  const json::Value* value = find(key, kOptional);
  if (value == nullptr) return otherwise;
  if (value->kind() != json::Kind::kBool) {
    fail(ErrorCode::kWrongType, key,
         "must be true or false, got " + kind_of(*value) + ".");
  }
  return value->as_bool();
}

std::int64_t MemberReader::integer(std::string_view key, std::int64_t least,
                                   bool open) {
  const json::Value* value = find(key, kRequired);
  if (value == nullptr) return least;
  const std::optional<std::int64_t> number = whole_number(*value);
  // Integers beyond 64 bits: only the sign of such a number matters.
  const bool big = value->kind() == json::Kind::kBigInt;
  const bool positive_big = big && !value->as_string().starts_with('-');
  if (!number && !big) {
    fail(ErrorCode::kWrongType, key,
         value->kind() == json::Kind::kFloat
             ? "must be a whole number."
             : "must be a whole number, got " + kind_of(*value) + ".");
    return least;
  }
  if (positive_big || *number > kMaxCount) {
    if (!open) {
      fail(ErrorCode::kTooLarge, key, "must be at most 2147483647.");
    }
    return kUnbounded;
  }
  if (!number || *number < least) {
    fail(ErrorCode::kConflict, key,
         "must be at least " + std::to_string(least) + ", got " +
             (number ? std::to_string(*number)
                     : std::string(value->as_string())) +
             ".");
    return least;
  }
  return *number;
}

std::optional<std::uint32_t> MemberReader::budget(std::string_view key,
                                                  std::int64_t least) {
  const json::Value* value = find(key, kOptional);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return static_cast<std::uint32_t>(integer(key, least, false));
}

TokenRef MemberReader::token_value(const json::Value& value,
                                   const std::string& path,
                                   const std::string& what) {
  TokenRef out;
  if (value.is_string()) {
    out.text = std::string(value.as_string());
    if (out.text.empty()) {
      fail_at(ErrorCode::kEmptyValue, path, what + " must not be empty.");
    }
    return out;
  }
  const std::optional<std::int64_t> id = whole_number(value);
  if (!id) {
    fail_at(ErrorCode::kWrongType, path,
            what + " must be a token: its id or its text, got " +
                kind_of(value) + ".");
    return out;
  }
  if (*id < 0 || *id > kMaxCount) {
    fail_at(ErrorCode::kConflict, path,
            what + " must be an id from 0 to 2147483647, got " +
                std::to_string(*id) + ".");
    return out;
  }
  out.id = static_cast<std::uint32_t>(*id);
  return out;
}

TokenRef MemberReader::token(std::string_view key) {
  const json::Value* value = find(key, kRequired);
  if (value == nullptr) return {};
  return token_value(*value, path_of(key), "'" + std::string(key) + "'");
}

std::vector<TokenRef> MemberReader::tokens(std::string_view key, Need need) {
  std::vector<TokenRef> out;
  const json::Value* value = find(key, need);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    fail(ErrorCode::kWrongType, key,
         "must be a list of tokens, got " + kind_of(*value) + ".");
    return out;
  }
  if (value->items().empty() && need == kRequired) {
    fail(ErrorCode::kEmptyValue, key, "must have at least one token.");
  }
  for (std::size_t i = 0; i < value->items().size(); ++i) {
    out.push_back(token_value(value->items()[i],
                              json::append_pointer(path_of(key), i),
                              "an entry of '" + std::string(key) + "'"));
  }
  return out;
}

Marker MemberReader::token_marker(const json::Value& value,
                                  std::string_view key) {
  // An object is a token here, whatever its "type".
  Marker out;
  out.token.emplace();
  const json::Value* token = value.find("token");
  if (token == nullptr) {
    fail(ErrorCode::kMissingKey, key,
         "is an object, so a token, and its 'token' is missing.");
    return out;
  }
  out.token = token_value(*token, path_of(key) + "/token",
                          "the token of '" + std::string(key) + "'");
  return out;
}

Marker MemberReader::begin(std::string_view key) {
  Marker out;
  const json::Value* value = find(key, kRequired);
  if (value == nullptr) return out;
  if (value->is_object()) return token_marker(*value, key);
  if (!value->is_string()) {
    fail(ErrorCode::kWrongType, key,
         "must be a string or a token object, got " + kind_of(*value) + ".");
  }
  out.texts.emplace_back(value->as_string());
  return out;
}

Marker MemberReader::end(std::string_view key) {
  Marker out;
  const json::Value* value = find(key, kRequired);
  if (value == nullptr) return out;
  if (value->is_object()) return token_marker(*value, key);
  if (value->is_string()) {
    out.texts.emplace_back(value->as_string());
    return out;
  }
  if (!value->is_array()) {
    fail(ErrorCode::kWrongType, key,
         "must be a string, a list of strings or a token object, got " +
             kind_of(*value) + ".");
    return out;
  }
  if (value->items().empty()) {
    fail(ErrorCode::kEmptyValue, key, "must have at least one string.");
  }
  for (std::size_t i = 0; i < value->items().size(); ++i) {
    const json::Value& item = value->items()[i];
    if (!item.is_string()) {
      fail_at(ErrorCode::kWrongType, json::append_pointer(path_of(key), i),
              "'" + std::string(key) + "' must hold only strings, got " +
                  kind_of(item) + ".");
    }
    out.texts.emplace_back(item.as_string());
  }
  return out;
}

const json::Value* MemberReader::object(std::string_view key) {
  const json::Value* value = find(key, kRequired);
  if (value != nullptr && !value->is_object()) {
    fail(ErrorCode::kWrongType, key,
         "must be an object, got " + kind_of(*value) + ".");
  }
  return value;
}

const json::Array& MemberReader::list(std::string_view key) {
  const json::Value* value = find(key, kRequired);
  if (value == nullptr) return no_items();
  if (!value->is_array()) {
    fail(ErrorCode::kWrongType, key,
         "must be a list, got " + kind_of(*value) + ".");
    return no_items();
  }
  if (value->items().empty()) {
    fail(ErrorCode::kEmptyValue, key, "must have at least one entry.");
  }
  return value->items();
}

}  // namespace parlance::structural_tag
