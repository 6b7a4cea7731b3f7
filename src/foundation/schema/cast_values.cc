// The inverse of cast() in typing.cc: for each of its types, the texts that it
// reads as a pattern, and the values that have such a text.

#include "schema/cast_values.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "schema/document.h"

namespace parlance::schema {
namespace {

// What str.strip() takes away.
constexpr std::string_view kSpaces =
    "[\\t-\\r\\x1C- \\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F"
    "\\u205F\\u3000]*";

// What float() reads, infinity and NaN aside, which no cast takes.  It has what
// int() reads.
constexpr std::string_view kFloats =
    "[+-]?(?:\\p{Nd}(?:_?\\p{Nd})*(?:\\.(?:\\p{Nd}(?:_?\\p{Nd})*)?)?|"
    "\\.\\p{Nd}(?:_?\\p{Nd})*)(?:[eE][+-]?\\p{Nd}(?:_?\\p{Nd})*)?";

bool has(const std::vector<LooseType>& types, LooseType type) {
  return std::ranges::find(types, type) != types.end();
}

// A pattern of all strings that are cast; "" if none is.
std::string cast_strings(const std::vector<LooseType>& types) {
  std::string words;  // between spaces
  const auto add = [](std::string& to, std::string_view pattern) {
    to.append(to.empty() ? "" : "|").append(pattern);
  };
  if (has(types, LooseType::kInteger) || has(types, LooseType::kNumber)) {
    add(words, kFloats);
  }
  if (has(types, LooseType::kBoolean)) {
    add(words, "[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[01]");
  }
  if (has(types, LooseType::kNull)) add(words, "null|None");
  std::string out;
  if (!words.empty()) {
    add(out, std::string(kSpaces) + "(?:" + words + ")" + std::string(kSpaces) +
                 "$");
  }
  if (has(types, LooseType::kObject)) add(out, "[ \\t\\n\\r]*\\{");
  if (has(types, LooseType::kArray)) add(out, "[ \\t\\n\\r]*\\[");
  return out.empty() ? out : "^(?:" + out + ")";
}

json::Object of_type(std::string_view name) {
  return json::Object{{"type", name}};
}

// Strings that are not cast.
json::Object other_strings(const std::string& cast) {
  json::Object out = of_type("string");
  if (!cast.empty()) out.set("not", json::Object{{"pattern", cast}});
  return out;
}

// The numbers that are written as themselves and read so; nothing if none is.
// An integer is exact unless it is read as a double first, and 0 and 1 are
// booleans where these come first.
json::Object numbers_of(const std::vector<LooseType>& types, bool& some) {
  constexpr std::int64_t kCountable = std::int64_t{1} << 53;
  const auto first = [&](LooseType type) {
    return std::ranges::find(types, type) - types.begin();
  };
  const auto integer = first(LooseType::kInteger);
  const auto number = first(LooseType::kNumber);
  const auto end = std::ssize(types);
  if (integer == end && number == end) return {};
  json::Object out = of_type(number == end ? "integer" : "number");
  // A double beyond 2^53 that is whole becomes an integer with digits that the
  // text lacks.
  if (number != end) {
    json::Object countable = of_type("number");
    countable.set("minimum", -kCountable);
    countable.set("maximum", kCountable);
    out = number < integer
              ? std::move(countable)
              : json::Object{{"anyOf", json::Array{of_type("integer"),
                                                   std::move(countable)}}};
    some = true;
  }
  if (first(LooseType::kBoolean) < std::min(integer, number)) {
    out.set("not", json::Object{{"enum", json::Array{0, 1}}});
    some = true;
  }
  if (number == end) some = true;
  return out;
}

CastValues raw_values(const std::vector<LooseType>& types,
                      const std::string& cast) {
  CastValues out;
  json::Array choices;
  const auto add = [&](std::uint8_t bit, json::Object values) {
    out.types |= bit;
    choices.emplace_back(std::move(values));
  };
  if (has(types, LooseType::kNull)) add(kNull, of_type("null"));
  if (has(types, LooseType::kBoolean)) add(kBoolean, of_type("boolean"));
  json::Object numbers = numbers_of(types, out.some_numbers);
  if (!numbers.empty()) add(kNumber, std::move(numbers));
  if (has(types, LooseType::kObject)) add(kObject, of_type("object"));
  if (has(types, LooseType::kArray)) add(kArray, of_type("array"));
  add(kString, other_strings(cast));
  out.some_strings = !cast.empty();
  out.schema = choices.size() == 1
                   ? std::move(choices[0])
                   : json::Value(json::Object{{"anyOf", std::move(choices)}});
  return out;
}

CastValues quoted_values(const std::vector<LooseType>& types,
                         const std::string& cast) {
  CastValues out;
  out.types = kAllTypes;
  if (cast.empty()) return out;
  out.some_strings = true;
  json::Object limits = {
      {"not", json::Object{{"type", "string"}, {"pattern", cast}}}};
  // A list as the value of a parameter that is no list comes from a repeated
  // tag.
  if (!has(types, LooseType::kArray)) {
    limits.set("items", limits);
  }
  out.schema = std::move(limits);
  return out;
}

}  // namespace

CastValues values_of_cast(const std::vector<LooseType>& types,
                          Notation notation) {
  const std::string cast = cast_strings(types);
  return notation == Notation::kRaw ? raw_values(types, cast)
                                    : quoted_values(types, cast);
}

json::Value without_python_words(const std::vector<LooseType>& types) {
  std::string words;
  if (has(types, LooseType::kNull)) words = "None";
  if (has(types, LooseType::kBoolean)) {
    words.append(words.empty() ? "" : "|").append("True|False");
  }
  if (words.empty()) return true;
  const std::string spaces(kSpaces);
  return json::Object{
      {"not", json::Object{{"type", "string"},
                           {"pattern", "^" + spaces + "(?:" + words + ")" +
                                           spaces + "$"}}}};
}

}  // namespace parlance::schema
