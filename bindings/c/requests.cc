#include "requests.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "calls.h"
#include "parlance/json_pointer.h"
#include "parlance/limit_names.h"

namespace parlance::c {
namespace {

json::Value object_of(const char* text, std::size_t size) {
  const std::string_view source = text_of(text, size, "request");
  if (source.empty()) return json::Object{};
  return taken(json::parse(source, {.exact_floats = true}));
}

}  // namespace

Request::Request(const char* text, std::size_t size)
    : Request(object_of(text, size), "") {}

Request::Request(const json::Value& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (object_.is_object()) return;
  fail({.code = ErrorCode::kWrongType,
        .message = "a request is an object, and this is of type " +
                   std::string(json::to_string(object_.kind())),
        .path = path_});
}

std::string Request::path_of(std::string_view key) const {
  return append_json_pointer(path_, key);
}

void Request::wrong_type(std::string_view key, std::string_view wanted) const {
  fail({.code = ErrorCode::kWrongType,
        .message = std::string(key) + " must be " + std::string(wanted),
        .path = path_of(key)});
}

const json::Value* Request::find(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
    asked_.push_back(key);
  }
  const json::Value* const found = object_.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const json::Value* Request::list(std::string_view key) {
  const json::Value* const found = find(key);
  if (found != nullptr && !found->is_array()) wrong_type(key, "a list");
  return found;
}

const json::Value* Request::object(std::string_view key) {
  const json::Value* const found = find(key);
  if (found != nullptr && !found->is_object()) wrong_type(key, "an object");
  return found;
}

bool Request::flag(std::string_view key, bool otherwise) {
  const json::Value* const found = find(key);
  if (found == nullptr) return otherwise;
  if (found->kind() != json::Kind::kBool) wrong_type(key, "true or false");
  return found->as_bool();
}

std::optional<std::uint64_t> Request::maybe_number(std::string_view key,
                                                   std::uint64_t most) {
  const json::Value* const found = find(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind() != json::Kind::kInt || found->as_int() < 0 ||
      static_cast<std::uint64_t>(found->as_int()) > most) {
    wrong_type(key, "an integer from 0 to " + std::to_string(most));
  }
  return static_cast<std::uint64_t>(found->as_int());
}

std::uint64_t Request::number(std::string_view key, std::uint64_t otherwise,
                              std::uint64_t most) {
  return maybe_number(key, most).value_or(otherwise);
}

std::string Request::text(std::string_view key, std::string_view otherwise) {
  const json::Value* const found = find(key);
  if (found == nullptr) return std::string(otherwise);
  if (!found->is_string()) wrong_type(key, "a string");
  return std::string(found->as_string());
}

std::optional<std::vector<TokenId>> Request::ids(std::string_view key) {
  const json::Value* const found = find(key);
  if (found == nullptr) return std::nullopt;
  std::vector<TokenId> out;
  constexpr std::int64_t kMost = std::numeric_limits<TokenId>::max();
  for (const json::Value& item : found->items()) {
    const bool fits = item.kind() == json::Kind::kInt && item.as_int() >= 0 &&
                      item.as_int() <= kMost;
    if (!fits) wrong_type(key, "a list of token ids");
    out.push_back(static_cast<TokenId>(item.as_int()));
  }
  if (!found->is_array()) wrong_type(key, "a list of token ids");
  return out;
}

std::size_t Request::choice(std::string_view key,
                            std::initializer_list<std::string_view> names,
                            std::size_t otherwise) {
  const json::Value* const found = find(key);
  if (found == nullptr) return otherwise;
  std::string wanted = "one of";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names.begin()[i];
    if (found->is_string() && found->as_string() == name) return i;
    wanted += i == 0 ? " \"" : ", \"";
    wanted += name;
    wanted += '"';
  }
  if (!found->is_string()) wrong_type(key, wanted);
  fail({.code = ErrorCode::kUnknownName,
        .message = std::string(key) + " must be " + wanted,
        .path = path_of(key)});
}

Markers Request::markers() {  // ORDER: Markers
  return static_cast<Markers>(choice("markers", {"token", "either", "text"}));
}

GrammarLimits Request::limits() {
  GrammarLimits out;
  const json::Value* const found = find("limits");
  if (found == nullptr) return out;
  Request limits(*found, path_of("limits"));
  for (const auto& [name, limit] : kGrammarLimits) {
    out.*limit = limits.number(name, out.*limit);
  }
  limits.finish();
  return out;
}

void Request::finish() const {
  for (const json::Member& member : object_.members()) {
    if (std::find(asked_.begin(), asked_.end(), member.key) != asked_.end()) {
      continue;
    }
    std::string known;
    for (const std::string_view key : asked_) {
      known += known.empty() ? "" : ", ";
      known += key;
    }
    fail({.code = ErrorCode::kUnknownKey,
          .message = "there is no option \"" + member.key + "\"; there are " +
                     (known.empty() ? "none" : known),
          .path = path_of(member.key)});
  }
}

}  // namespace parlance::c
