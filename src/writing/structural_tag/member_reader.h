#ifndef PARLANCE_SRC_STRUCTURAL_TAG_MEMBER_READER_H_
#define PARLANCE_SRC_STRUCTURAL_TAG_MEMBER_READER_H_

// Reads the members of one object of a structural tag.  The first error is
// recorded, and values read after it are meaningless:
//
//   MemberReader fields(object, "any_text", "/format");
//   body.excludes = fields.texts("excludes", MemberReader::kOptional);
//   body.max_chars = fields.budget("max_chars");
//   if (fields.error()) return *fields.error();

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {

// The name of a value's JSON type, for messages.
inline std::string kind_of(const json::Value& value) {
  return std::string(json::to_string(value.kind()));
}

class MemberReader {
 public:
  enum Need : std::uint8_t { kRequired, kOptional };

  // `format` is the name of the node's type, for messages.
  MemberReader(const json::Value& object, std::string_view format,
               std::string path)
      : object_(object), format_(format), path_(std::move(path)) {}

  const std::optional<Error>& error() const { return error_; }

  // The keys that have been asked for, in that order, present or not.
  const std::vector<std::string_view>& known() const { return known_; }
  // Adds a key that the caller reads itself.
  void know(std::string_view key) { known_.push_back(key); }

  // A required string.
  std::string text(std::string_view key);
  std::string non_empty_text(std::string_view key);
  // A string that is not empty; "" when absent.
  std::string name(std::string_view key);

  // A list of non-empty strings.  Required ones have at least one.
  std::vector<std::string> texts(std::string_view key, Need need);

  // true or false; `otherwise` when absent.
  bool flag(std::string_view key, bool otherwise);

  // A required whole number of at least `least`.  A number above 2147483647 is
  // kUnbounded if `open`, else an error.
  std::int64_t integer(std::string_view key, std::int64_t least, bool open);

  // 0 to 2147483647, or null, or absent.
  std::optional<std::uint32_t> budget(std::string_view key,
                                      std::int64_t least = 0);

  // A required token: an id or a text.
  TokenRef token(std::string_view key);
  std::vector<TokenRef> tokens(std::string_view key, Need need);

  // The begin of a tag: a string or a token object.
  Marker begin(std::string_view key);
  // The end of a tag: a string, strings or a token object.
  Marker end(std::string_view key);

  // Required values that the caller reads.
  const json::Value* object(std::string_view key);
  const json::Array& list(std::string_view key);

  // Records an error if the object has another key than `keys`.
  void only(std::span<const std::string_view> keys);

  // Records the error of a reader of a member, if it has one.
  void take_error(const MemberReader& inner) {
    if (!error_) error_ = inner.error_;
  }

  // Records an error, unless one has been recorded already.
  void fail(ErrorCode code, std::string_view key, std::string message);
  void fail_at(ErrorCode code, std::string path, std::string message);

  // The pointer of the member `key`.
  std::string path_of(std::string_view key) const;

  // The token `value`, which messages call `what`.
  TokenRef token_value(const json::Value& value, const std::string& path,
                       const std::string& what);

 private:
  const json::Value* find(std::string_view key, Need need);
  Marker token_marker(const json::Value& value, std::string_view key);

  const json::Value& object_;
  std::string_view format_;
  std::string path_;
  std::optional<Error> error_;
  std::vector<std::string_view> known_;
};

// The value of a number that is whole, even if it is written with a fraction
// (2.0).  Nothing for other values, and for floats beyond 2^53.
std::optional<std::int64_t> whole_number(const json::Value& value);

}  // namespace parlance::structural_tag

#endif  // PARLANCE_SRC_STRUCTURAL_TAG_MEMBER_READER_H_
