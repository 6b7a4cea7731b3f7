// The walk over a schema and the casts.  Both follow upstream's tool casting;
// Python's int(), float() and str.strip() are in base/python_number.h.

#include "schema/typing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/python_number.h"

namespace parlance::schema {
namespace {

// ORDER: LooseType
constexpr std::array<std::string_view, 8> kNames = {
    "integer", "number", "boolean", "null",
    "object",  "array",  "string",  "unknown"};

LooseType type_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<LooseType>(i);
  }
  return LooseType::kUnknown;
}

// A subschema that is being walked.
struct Frame {
  const json::Value* schema;
  std::size_t first_type;  // types from here on are this subschema's
  std::size_t next = 0;    // choice to be visited next: anyOf's, then oneOf's
};

struct Walk {
  std::vector<LooseType> types = {};
  bool bad_union = false;
};

// A depth-first walk through the unions.  Invariant: the frames of `stack` are
// the path to the subschema being walked, and out.types has, in order, the
// types of everything entered so far.  A frame whose choices are all done adds
// null, if it is nullable and its types (those from first_type on) lack it.
Walk walk(const json::Value& root) {
  Walk out;
  // An explicit stack: unions nest as deep as the schema's author likes.
  std::vector<Frame> stack;
  const auto enter = [&](const json::Value& schema) {
    if (!schema.is_object()) return;
    stack.push_back({&schema, out.types.size()});
    const json::Value* type = schema.find("type");
    if (type != nullptr && type->is_string()) {
      out.types.push_back(type_from_name(type->as_string()));
    } else if (type != nullptr && type->is_array()) {
      for (const json::Value& name : type->items()) {
        if (name.is_string()) {
          out.types.push_back(type_from_name(name.as_string()));
        }
      }
    }
    for (std::string_view key : {"anyOf", "oneOf"}) {
      const json::Value* choices = schema.find(key);
      // A string or an object has elements for Python, none of them a schema.
      if (choices != nullptr && choices->truthy() && !choices->is_array() &&
          !choices->is_string() && !choices->is_object()) {
        out.bad_union = true;
      }
    }
  };
  enter(root);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const json::Value* any_of = frame.schema->find("anyOf");
    const json::Value* one_of = frame.schema->find("oneOf");
    const std::size_t any_size = any_of != nullptr ? any_of->items().size() : 0;
    const std::size_t one_size = one_of != nullptr ? one_of->items().size() : 0;
    if (frame.next < any_size + one_size) {
      const std::size_t i = frame.next++;
      enter(i < any_size ? any_of->items()[i] : one_of->items()[i - any_size]);
      continue;
    }
    const json::Value* nullable = frame.schema->find("nullable");
    if (nullable != nullptr && nullable->truthy()) {
      bool present = false;
      for (std::size_t i = frame.first_type; i < out.types.size(); ++i) {
        present = present || out.types[i] == LooseType::kNull;
      }
      if (!present) out.types.push_back(LooseType::kNull);
    }
    stack.pop_back();
  }
  return out;
}

// Equal when ASCII letters of `text` are lowered; `word` is lower case.
bool equals_lowered(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char lowered =
        c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lowered != word[i]) return false;
  }
  return true;
}

// A whole double as the integer it is, digit for digit: 1e23 is
// 99999999999999991611392.
json::Value exact_integer(double whole) {
  std::array<char, 400> buffer;  // the largest double has 309 digits
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), whole,
                    std::chars_format::fixed, 0);
  (void)error;
  return json::Value::integer(std::string_view(
      buffer.data(), static_cast<std::size_t>(end - buffer.data())));
}

// `text` as the number of JSON that it spells, white space around it aside.
std::optional<json::Value> json_number(std::string_view text) {
  text = base::python_strip(text);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  // Not NaN, Infinity or -Infinity, which are no numbers of JSON.
  if (text.empty() || (text[0] != '-' && !is_digit(text[0])) ||
      !is_digit(text.back())) {
    return std::nullopt;
  }
  Result<json::Value> value = json::parse(text);
  if (!value) return std::nullopt;
  return *std::move(value);
}

// A finite whole number as an integer.  Beyond the integers that a double can
// count, a number of JSON such as 1e23 stays the value that the reader of JSON
// gives it, which is written as it was: as an integer it would get digits that
// the text lacks.
json::Value whole_number(std::string_view text, double number,
                         Numbers numbers) {
  constexpr double kCountable = 9007199254740992;  // 2^53
  if (numbers == Numbers::kJson && std::abs(number) > kCountable) {
    if (auto value = json_number(text)) return *std::move(value);
  }
  return exact_integer(number);
}

// Integers of JSON Schema are whole numbers, however they are written.
std::optional<json::Value> cast_integer(std::string_view text,
                                        Numbers numbers) {
  std::string digits;
  if (base::python_int(text, digits) == base::NumberStatus::kOk) {
    return json::Value::integer(digits);
  }
  double number = 0;
  if (!base::python_float(text, number) || !std::isfinite(number) ||
      number != std::trunc(number)) {
    return std::nullopt;
  }
  return whole_number(text, number, numbers);
}

std::optional<json::Value> cast_number(std::string_view text, Numbers numbers) {
  std::string digits;
  if (numbers == Numbers::kJson &&
      base::python_int(text, digits) == base::NumberStatus::kOk) {
    return json::Value::integer(digits);
  }
  double number = 0;
  if (!base::python_float(text, number)) return std::nullopt;
  if (!std::isfinite(number)) {
    return numbers == Numbers::kJson ? json_number(text) : std::nullopt;
  }
  if (number == std::trunc(number) &&
      text.find('.') == std::string_view::npos) {
    return whole_number(text, number, numbers);
  }
  return json::Value(number);
}

std::optional<json::Value> cast_one(std::string_view text, LooseType type,
                                    Numbers numbers) {
  switch (type) {
    case LooseType::kInteger:
      return cast_integer(text, numbers);
    case LooseType::kNumber:
      return cast_number(text, numbers);
    case LooseType::kBoolean: {
      const std::string_view word = base::python_strip(text);
      if (word == "1" || equals_lowered(word, "true")) {
        return json::Value(true);
      }
      if (word == "0" || equals_lowered(word, "false")) {
        return json::Value(false);
      }
      return std::nullopt;
    }
    case LooseType::kNull: {
      const std::string_view word = base::python_strip(text);
      if (word == "null" || word == "None") return json::Value();
      return std::nullopt;
    }
    case LooseType::kObject:
    case LooseType::kArray: {
      Result<json::Value> value = json::parse(text);
      if (!value) return std::nullopt;
      const bool fits =
          type == LooseType::kObject ? value->is_object() : value->is_array();
      if (!fits) return std::nullopt;
      return std::move(*value);
    }
    case LooseType::kString:
    case LooseType::kUnknown:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(LooseType type) {
  return kNames[static_cast<std::size_t>(type)];
}

std::vector<LooseType> candidate_types(const json::Value& schema) {
  return walk(schema).types;
}

bool has_bad_union(const json::Value& schema) { return walk(schema).bad_union; }

std::optional<json::Value> cast(std::string_view text,
                                const std::vector<LooseType>& types,
                                Numbers numbers) {
  for (LooseType type : types) {
    if (auto value = cast_one(text, type, numbers)) return value;
  }
  return std::nullopt;
}

}  // namespace parlance::schema
