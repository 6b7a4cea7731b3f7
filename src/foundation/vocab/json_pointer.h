#ifndef PARLANCE_SRC_VOCAB_JSON_POINTER_H_
#define PARLANCE_SRC_VOCAB_JSON_POINTER_H_

// JSON Pointers into a tokenizer's file, and reading typed members under them.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/located.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::vocab {

// `path` and one more reference token.
template <class Token>
std::string child(std::string_view path, Token token) {
  return json::append_pointer(std::string(path), token);
}

inline Error wrong_type(std::string path, std::string_view expected,
                        const json::Value& found) {
  return Error{.code = ErrorCode::kWrongType,
               .message = "Expected " + std::string(expected) + ", found " +
                          std::string(json::to_string(found.kind())) + ".",
               .path = std::move(path)};
}

inline Error missing_key(std::string path, std::string_view key) {
  return Error{.code = ErrorCode::kMissingKey,
               .message = "The key \"" + std::string(key) + "\" is missing.",
               .path = std::move(path)};
}

// `error`, at `path` if it names no other place.
inline std::optional<Error> at(std::optional<Error> error, std::string path) {
  if (error && error->path.empty()) error->path = std::move(path);
  return error;
}

// The member `key` of the object at `path`, or null when it is absent or null.
inline const json::Value* member(const json::Value& object,
                                 std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

inline Result<std::string_view> string_member(const json::Value& object,
                                              std::string_view path,
                                              std::string_view key) {
  const json::Value* value = member(object, key);
  if (value == nullptr) return missing_key(std::string(path), key);
  if (!value->is_string()) {
    return wrong_type(child(path, key), "a string", *value);
  }
  return value->as_string();
}

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_JSON_POINTER_H_
