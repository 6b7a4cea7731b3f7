#include "format/file_reader.h"

#include <algorithm>
#include <utility>

#include "format/load.h"
#include "format/names.h"
#include "json/located.h"

namespace parlance::format {

void FileReader::fail(ErrorCode code, std::string message,
                      std::string pointer) {
  fail(Error{code, "format file: " + std::move(message), std::move(pointer)});
}

void FileReader::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void FileReader::wrong_type(const json::Value& value,
                            const std::string& pointer, std::string_view what,
                            std::string_view expected) {
  fail(ErrorCode::kWrongType,
       std::string(what) + " must be " + std::string(expected) + ", got " +
           describe_kind(value) + ".",
       pointer);
}

bool FileReader::any_object(const json::Value& value,
                            const std::string& pointer, std::string_view what) {
  if (!ok()) return false;
  if (value.is_object()) return true;
  wrong_type(value, pointer, what, "an object");
  return false;
}

bool FileReader::object(const json::Value& value, const std::string& pointer,
                        std::string_view what,
                        std::span<const std::string_view> keys) {
  if (!any_object(value, pointer, what)) return false;
  for (const json::Member& member : value.members()) {
    if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
    const std::string where = pointer.empty() ? "" : " in " + std::string(what);
    fail(ErrorCode::kUnknownKey,
         "unknown key '" + member.key + "'" + where +
             did_you_mean(member.key, keys) + " Known keys: " + listed(keys) +
             ".",
         json::append_pointer(pointer, member.key));
    return false;
  }
  return true;
}

bool FileReader::list(const json::Value& value, const std::string& pointer,
                      std::string_view what, std::string_view of) {
  if (!ok()) return false;
  if (value.is_array()) return true;
  wrong_type(value, pointer, what, "a list of " + std::string(of));
  return false;
}

std::string FileReader::maybe_empty_text(const json::Value& value,
                                         const std::string& pointer,
                                         std::string_view what) {
  if (!ok()) return "";
  if (value.is_string()) return std::string(value.as_string());
  wrong_type(value, pointer, what, "a string");
  return "";
}

std::string FileReader::text(const json::Value& value,
                             const std::string& pointer,
                             std::string_view what) {
  std::string out = maybe_empty_text(value, pointer, what);
  if (ok() && out.empty()) {
    fail(ErrorCode::kEmptyValue, std::string(what) + " must not be empty.",
         pointer);
  }
  return out;
}

std::vector<std::string> FileReader::texts(const json::Value& value,
                                           const std::string& pointer,
                                           std::string_view what) {
  std::vector<std::string> out;
  if (!list(value, pointer, what, "strings")) return out;
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    out.push_back(text(value.items()[i], json::append_pointer(pointer, i),
                       "an entry of " + std::string(what)));
  }
  return out;
}

bool FileReader::boolean(const json::Value& value, const std::string& pointer,
                         std::string_view what) {
  if (!ok()) return false;
  if (value.kind() == json::Kind::kBool) return value.as_bool();
  wrong_type(value, pointer, what, "true or false");
  return false;
}

std::int64_t FileReader::integer(const json::Value& value,
                                 const std::string& pointer,
                                 std::string_view what, std::int64_t min,
                                 std::int64_t max) {
  if (!ok()) return min;
  if (value.kind() == json::Kind::kInt && value.as_int() >= min &&
      value.as_int() <= max) {
    return value.as_int();
  }
  const bool number =
      value.kind() == json::Kind::kInt || value.kind() == json::Kind::kBigInt;
  fail(ErrorCode::kWrongType,
       std::string(what) + " must be an integer from " + std::to_string(min) +
           " to " + std::to_string(max) + ", got " +
           (number ? json::dump(value) : describe_kind(value)) + ".",
       pointer);
  return min;
}

std::size_t FileReader::choice(const json::Value& value,
                               const std::string& pointer,
                               std::string_view what,
                               std::span<const std::string_view> names) {
  const std::string name = maybe_empty_text(value, pointer, what);
  if (!ok()) return 0;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  fail(ErrorCode::kUnknownName,
       std::string(what) + " is '" + name.substr(0, 100) + "'" +
           did_you_mean(name, names) + " Possible: " + listed(names) + ".",
       pointer);
  return 0;
}

}  // namespace parlance::format
