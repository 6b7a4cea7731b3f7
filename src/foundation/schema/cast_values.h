#ifndef PARLANCE_SRC_SCHEMA_CAST_VALUES_H_
#define PARLANCE_SRC_SCHEMA_CAST_VALUES_H_

// Which values an argument may have so that the cast of its text (typing.h,
// Numbers::kPython) gives each value back.
//
//   {integer, null}, raw     7, null, "seven"       not true, not "7"
//   {}, raw                  "7", "null"            strings only
//   {integer, null}, quoted  7, null, true, "seven" not "7", not ["7"]
//
// A value is written as the text of a string itself, or else as JSON.

#include <cstdint>
#include <vector>

#include "parlance/json.h"
#include "schema/typing.h"

namespace parlance::schema {

// How the value of an argument is written.
enum class Notation : std::uint8_t {
  kRaw,     // the text of a string, or JSON of another value: all of it is cast
  kQuoted,  // JSON: the strings are cast, also those in a list
};

struct CastValues {
  // A schema of the values.  `true`: the cast gives every value back.
  json::Value schema = true;
  // TypeBits of the values.
  std::uint8_t types = 0;
  // Of these types some values are missing.
  bool some_strings = false;
  bool some_numbers = false;
};

// The values that the cast with these types gives back.
//
// Law: the text of a value that is valid under `schema` is cast to an equal
// value.  The converse holds but for strings that begin as the JSON of a type
// does, and for those that float() reads.
CastValues values_of_cast(const std::vector<LooseType>& types,
                          Notation notation);

// A schema of the strings that are not read as None, True or False where a
// value may be written as Python writes it (Strings::kPython); `true`: all.
json::Value without_python_words(const std::vector<LooseType>& types);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_CAST_VALUES_H_
