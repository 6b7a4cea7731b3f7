#ifndef PARLANCE_SRC_FORMAT_FILE_READER_H_
#define PARLANCE_SRC_FORMAT_FILE_READER_H_

// Reads values of a format file with checks of their types.
//
// A FileReader stores the first error.  After an error all further readings
// give default values, so that a caller checks once, at its end:
//
//   FileReader read;
//   read.object(value, "/parlance", "'parlance'", kKeys);
//   out.turn_end = read.texts(*list, "/parlance/turn_end", "'turn_end'");
//   return read.error();
//
// `what` is what messages call the value.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::format {

class FileReader {
 public:
  bool ok() const { return !error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }

  // Stores an error unless there is one.  The message gets the prefix "format
  // file: ".
  void fail(ErrorCode code, std::string message, std::string pointer);
  // Stores an error that is complete.
  void fail(Error error);

  // Whether `value` is an object whose keys are all in `keys`.
  bool object(const json::Value& value, const std::string& pointer,
              std::string_view what, std::span<const std::string_view> keys);
  // Whether `value` is an object, with any keys.
  bool any_object(const json::Value& value, const std::string& pointer,
                  std::string_view what);
  // Whether `value` is a list.  `of` names the entries: "strings".
  bool list(const json::Value& value, const std::string& pointer,
            std::string_view what, std::string_view of);

  // A string that is not empty.
  std::string text(const json::Value& value, const std::string& pointer,
                   std::string_view what);
  std::string maybe_empty_text(const json::Value& value,
                               const std::string& pointer,
                               std::string_view what);
  // A list of strings that are not empty.
  std::vector<std::string> texts(const json::Value& value,
                                 const std::string& pointer,
                                 std::string_view what);
  bool boolean(const json::Value& value, const std::string& pointer,
               std::string_view what);
  std::int64_t integer(const json::Value& value, const std::string& pointer,
                       std::string_view what, std::int64_t min,
                       std::int64_t max);
  // The index in `names` of a string; 0 after an error.
  std::size_t choice(const json::Value& value, const std::string& pointer,
                     std::string_view what,
                     std::span<const std::string_view> names);

 private:
  // Stores kWrongType: "WHAT must be EXPECTED, got a string."
  void wrong_type(const json::Value& value, const std::string& pointer,
                  std::string_view what, std::string_view expected);

  std::optional<Error> error_;
};

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_FILE_READER_H_
