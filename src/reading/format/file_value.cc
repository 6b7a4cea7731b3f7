// Reads values of a format file and stores the first error; see file_value.h.
//
// Invariant: after an error every reading gives a default value, so that loops
// over members and items need no check of their own.

#include "format/file_value.h"

#include <algorithm>

#include "format/load.h"
#include "format/names.h"
#include "json/located.h"

namespace parlance::format {

FileValue FileValue::item(std::size_t index, std::string what) const {
  return {json_.items()[index], json::append_pointer(pointer_, index),
          std::move(what), error_};
}

FileValue FileValue::member(std::string_view key, std::string what) const {
  return {*json_.find(key), json::append_pointer(pointer_, key),
          std::move(what), error_};
}

void FileValue::fail(Error error) const {
  if (!error_) error_ = std::move(error);
}
void FileValue::fail(ErrorCode code, std::string message) const {
  fail(Error{code, "format file: " + std::move(message), pointer_});
}
void FileValue::fail_at(std::string_view key, ErrorCode code,
                        std::string message) const {
  fail(Error{code, "format file: " + std::move(message),
             json::append_pointer(pointer_, key)});
}
void FileValue::fail_at(std::size_t index, ErrorCode code,
                        std::string message) const {
  fail(Error{code, "format file: " + std::move(message),
             json::append_pointer(pointer_, index)});
}

// Unless `fits`, stores kWrongType: "WHAT must be EXPECTED, got a string."
bool FileValue::is(bool fits, std::string_view expected) const {
  if (ok() && !fits) {
    fail(ErrorCode::kWrongType, what_ + " must be " + std::string(expected) +
                                    ", got " + describe_kind(json_) + ".");
  }
  return ok();
}

bool FileValue::known_keys(std::span<const std::string_view> keys) const {
  if (!is(json_.is_object(), "an object")) return false;
  for (const json::Member& member : json_.members()) {
    if (std::ranges::find(keys, member.key) != keys.end()) continue;
    fail_at(member.key, ErrorCode::kUnknownKey,
            "unknown key '" + member.key + "'" +
                (pointer_.empty() ? "" : " in " + what_) +
                did_you_mean(member.key, keys) +
                " Known keys: " + listed(keys) + ".");
    return false;
  }
  return true;
}

bool FileValue::members(std::initializer_list<FileMember> list,
                        std::string_view of) const {
  std::vector<std::string_view> keys;
  for (const FileMember& one : list) keys.push_back(one.key);
  if (!known_keys(keys)) return false;
  for (const FileMember& one : list) {
    const std::string key(one.key);
    if (json_.find(key) != nullptr) {
      one.read(member(key, ("'" + key + "'").append(of)));
    } else if (!one.missing.empty()) {
      fail(ErrorCode::kMissingKey, one.missing);
    }
  }
  return ok();
}

void FileValue::each_member(
    const std::function<void(const std::string&, const FileValue&)>& read)
    const {
  if (!is(json_.is_object(), "an object")) return;
  for (const json::Member& one : json_.members()) {
    read(one.key, member(one.key, "'" + one.key + "'"));
  }
}

void FileValue::each_item(
    std::string_view entries, const std::string& what,
    const std::function<void(const FileValue&)>& read) const {
  if (!is(json_.is_array(), "a list of " + std::string(entries))) return;
  for (std::size_t i = 0; i < json_.size(); ++i) read(item(i, what));
}

void FileValue::each_item(
    std::string_view entries, const std::string& what, std::string empty,
    const std::function<void(const FileValue&)>& read) const {
  each_item(entries, what, read);
  if (json_.size() == 0) fail(ErrorCode::kEmptyValue, std::move(empty));
}

std::string FileValue::maybe_empty_text() const {
  return is(json_.is_string(), "a string") ? std::string(json_.as_string())
                                           : "";
}

std::string FileValue::text() const {
  std::string out = maybe_empty_text();
  if (out.empty()) fail(ErrorCode::kEmptyValue, what_ + " must not be empty.");
  return out;
}

std::vector<std::string> FileValue::texts() const {
  std::vector<std::string> out;
  each_item("strings", "an entry of " + what_,
            [&](const FileValue& one) { out.push_back(one.text()); });
  return out;
}

bool FileValue::boolean() const {
  return is(json_.kind() == json::Kind::kBool, "true or false") &&
         json_.as_bool();
}

std::int64_t FileValue::integer(std::int64_t min, std::int64_t max) const {
  if (json_.kind() == json::Kind::kInt && json_.as_int() >= min &&
      json_.as_int() <= max) {
    return ok() ? json_.as_int() : min;
  }
  const bool number =
      json_.kind() == json::Kind::kInt || json_.kind() == json::Kind::kBigInt;
  fail(ErrorCode::kWrongType,
       what_ + " must be an integer from " + std::to_string(min) + " to " +
           std::to_string(max) + ", got " +
           (number ? json::dump(json_) : describe_kind(json_)) + ".");
  return min;
}

std::size_t FileValue::choice(std::span<const std::string_view> names) const {
  const std::string name = maybe_empty_text();
  if (!ok()) return 0;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  fail(ErrorCode::kUnknownName, what_ + " is '" + name.substr(0, 100) + "'" +
                                    did_you_mean(name, names) +
                                    " Possible: " + listed(names) + ".");
  return 0;
}

std::optional<std::pair<std::string, FileValue>> FileValue::only_member(
    std::span<const std::string_view> keys, std::string several) const {
  if (!known_keys(keys)) return std::nullopt;
  if (json_.size() != 1) {
    fail(ErrorCode::kConflict, std::move(several));
    return std::nullopt;
  }
  const std::string& key = json_.members().begin()->key;
  return std::pair(key, member(key, "'" + key + "'"));
}

}  // namespace parlance::format
