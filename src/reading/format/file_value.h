#ifndef PARLANCE_SRC_FORMAT_FILE_VALUE_H_
#define PARLANCE_SRC_FORMAT_FILE_VALUE_H_

// Values of a format file, read with checks of their types.
//
// The first error is stored.  After an error all further readings give default
// values, so that a caller checks once, at its end:
//
//   std::optional<Error> error;
//   FileValue file(json, "", "the file", error);
//   file.members({{"name", into(out.name)},
//                 {"rank", [&](const FileValue& rank) {
//                    out.rank = rank.integer(0, 9);
//                  }}});
//   return error;

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::format {

class FileValue;

// A key that an object may have, and what reads its value.
struct FileMember {
  std::string_view key;
  std::function<void(const FileValue&)> read;
  // The error of an object without the key; "": it may be missing.
  std::string missing = {};
};

class FileValue {
 public:
  // `what` is what messages call the value.  All but `what` must outlive this.
  FileValue(const json::Value& json, std::string pointer, std::string what,
            std::optional<Error>& error)
      : json_(json),
        pointer_(std::move(pointer)),
        what_(std::move(what)),
        error_(error) {}

  const json::Value& json() const { return json_; }
  const std::string& pointer() const { return pointer_; }
  const std::string& what() const { return what_; }
  bool ok() const { return !error_.has_value(); }

  // The same value under another name, and a value inside.
  FileValue called(std::string what) const {
    return {json_, pointer_, std::move(what), error_};
  }
  FileValue item(std::size_t index, std::string what) const;
  // REQUIRES: the object has the key.
  FileValue member(std::string_view key, std::string what) const;

  // Stores an error unless there is one, at the value or at a member or item of
  // it.  The message gets the prefix "format file: ".
  void fail(ErrorCode code, std::string message) const;
  void fail_at(std::string_view key, ErrorCode code, std::string message) const;
  void fail_at(std::size_t index, ErrorCode code, std::string message) const;
  // Stores an error that is complete.
  void fail(Error error) const;

  // Reads an object whose keys are all listed, in the order of the list.  What
  // messages call a member is its key in quotes, and then `of`.  Returns
  // whether there is no error.
  bool members(std::initializer_list<FileMember> list,
               std::string_view of = "") const;
  // The same for an object with any keys.
  void each_member(const std::function<void(const std::string&,
                                            const FileValue&)>& read) const;
  // Reads a list.  `entries` names its entries in messages, as "strings";
  // `what` one of them.
  void each_item(std::string_view entries, const std::string& what,
                 const std::function<void(const FileValue&)>& read) const;
  // The same for a list that may not be empty: `empty` is its error.
  void each_item(std::string_view entries, const std::string& what,
                 std::string empty,
                 const std::function<void(const FileValue&)>& read) const;

  // A string that is not empty.
  std::string text() const;
  std::string maybe_empty_text() const;
  // A list of strings that are not empty.
  std::vector<std::string> texts() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t min, std::int64_t max) const;
  // The index in `names` of a string; 0 after an error.
  std::size_t choice(std::span<const std::string_view> names) const;
  std::size_t choice(std::initializer_list<std::string_view> names) const {
    return choice(std::span(names.begin(), names.size()));
  }
  // The only member of an object, which has one of these keys.  `several`: the
  // error of another number of members.
  std::optional<std::pair<std::string, FileValue>> only_member(
      std::span<const std::string_view> keys, std::string several) const;

 private:
  bool is(bool fits, std::string_view expected) const;
  bool known_keys(std::span<const std::string_view> keys) const;

  const json::Value& json_;
  std::string pointer_;
  std::string what_;
  std::optional<Error>& error_;
};

// What reads a member into `out`, which must outlive it.
inline auto into(std::string& out) {
  return [&out](const FileValue& value) { out = value.text(); };
}
inline auto into(std::vector<std::string>& out) {
  return [&out](const FileValue& value) { out = value.texts(); };
}
inline auto into(bool& out) {
  return [&out](const FileValue& value) { out = value.boolean(); };
}
// `names`: of the enumerators from the first on.
template <class Enum>
auto into(Enum& out, std::initializer_list<std::string_view> names) {
  return [&out,
          list = std::vector<std::string_view>(names)](const FileValue& value) {
    out = static_cast<Enum>(value.choice(list));
  };
}

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_FILE_VALUE_H_
