// The table of keywords, and a hash table of their names that is built at
// compile time.

#include "schema/keywords.h"

#include <array>

namespace parlance::schema {
namespace {

constexpr Draft k4 = Draft::k4;
constexpr Draft k6 = Draft::k6;
constexpr Draft k7 = Draft::k7;
constexpr Draft k2019 = Draft::k2019;
constexpr Draft k2020 = Draft::k2020;

// `additionalItems`, `dependencies` and `definitions` have successors, and are
// read in every draft: no draft gives them another meaning.
// ORDER: Keyword
constexpr KeywordInfo kKeywords[] = {
    {"id", Keyword::kIdOld, k4, k4, Subschemas::kNone},
    {"$id", Keyword::kId, k6, k2020, Subschemas::kNone},
    {"$schema", Keyword::kSchema, k4, k2020, Subschemas::kNone},
    {"$anchor", Keyword::kAnchor, k2019, k2020, Subschemas::kNone},
    {"$dynamicAnchor", Keyword::kDynamicAnchor, k2020, k2020,
     Subschemas::kNone},
    {"$recursiveAnchor", Keyword::kRecursiveAnchor, k2019, k2019,
     Subschemas::kNone},
    {"$defs", Keyword::kDefs, k4, k2020, Subschemas::kMembers},
    {"definitions", Keyword::kDefinitions, k4, k2020, Subschemas::kMembers},
    {"$ref", Keyword::kRef, k4, k2020, Subschemas::kNone},
    {"$dynamicRef", Keyword::kDynamicRef, k2020, k2020, Subschemas::kNone},
    {"$recursiveRef", Keyword::kRecursiveRef, k2019, k2019, Subschemas::kNone},
    {"type", Keyword::kType, k4, k2020, Subschemas::kNone},
    {"enum", Keyword::kEnum, k4, k2020, Subschemas::kNone},
    {"const", Keyword::kConst, k6, k2020, Subschemas::kNone},
    {"multipleOf", Keyword::kMultipleOf, k4, k2020, Subschemas::kNone},
    {"maximum", Keyword::kMaximum, k4, k2020, Subschemas::kNone},
    {"exclusiveMaximum", Keyword::kExclusiveMaximum, k4, k2020,
     Subschemas::kNone},
    {"minimum", Keyword::kMinimum, k4, k2020, Subschemas::kNone},
    {"exclusiveMinimum", Keyword::kExclusiveMinimum, k4, k2020,
     Subschemas::kNone},
    {"maxLength", Keyword::kMaxLength, k4, k2020, Subschemas::kNone},
    {"minLength", Keyword::kMinLength, k4, k2020, Subschemas::kNone},
    {"pattern", Keyword::kPattern, k4, k2020, Subschemas::kNone},
    {"format", Keyword::kFormat, k4, k2020, Subschemas::kNone},
    {"prefixItems", Keyword::kPrefixItems, k2020, k2020, Subschemas::kItems},
    {"items", Keyword::kItems, k4, k2020, Subschemas::kValueOrItems},
    {"additionalItems", Keyword::kAdditionalItems, k4, k2020,
     Subschemas::kValue},
    {"contains", Keyword::kContains, k6, k2020, Subschemas::kValue},
    {"minContains", Keyword::kMinContains, k2019, k2020, Subschemas::kNone},
    {"maxContains", Keyword::kMaxContains, k2019, k2020, Subschemas::kNone},
    {"maxItems", Keyword::kMaxItems, k4, k2020, Subschemas::kNone},
    {"minItems", Keyword::kMinItems, k4, k2020, Subschemas::kNone},
    {"uniqueItems", Keyword::kUniqueItems, k4, k2020, Subschemas::kNone},
    {"unevaluatedItems", Keyword::kUnevaluatedItems, k2019, k2020,
     Subschemas::kValue},
    {"properties", Keyword::kProperties, k4, k2020, Subschemas::kMembers},
    {"patternProperties", Keyword::kPatternProperties, k4, k2020,
     Subschemas::kMembers},
    {"additionalProperties", Keyword::kAdditionalProperties, k4, k2020,
     Subschemas::kValue},
    {"propertyNames", Keyword::kPropertyNames, k6, k2020, Subschemas::kValue},
    {"required", Keyword::kRequired, k4, k2020, Subschemas::kNone},
    {"maxProperties", Keyword::kMaxProperties, k4, k2020, Subschemas::kNone},
    {"minProperties", Keyword::kMinProperties, k4, k2020, Subschemas::kNone},
    {"dependencies", Keyword::kDependencies, k4, k2020, Subschemas::kMembers},
    {"dependentRequired", Keyword::kDependentRequired, k2019, k2020,
     Subschemas::kNone},
    {"dependentSchemas", Keyword::kDependentSchemas, k2019, k2020,
     Subschemas::kMembers},
    {"unevaluatedProperties", Keyword::kUnevaluatedProperties, k2019, k2020,
     Subschemas::kValue},
    {"allOf", Keyword::kAllOf, k4, k2020, Subschemas::kItems},
    {"anyOf", Keyword::kAnyOf, k4, k2020, Subschemas::kItems},
    {"oneOf", Keyword::kOneOf, k4, k2020, Subschemas::kItems},
    {"not", Keyword::kNot, k4, k2020, Subschemas::kValue},
    {"if", Keyword::kIf, k7, k2020, Subschemas::kValue},
    {"then", Keyword::kThen, k7, k2020, Subschemas::kValue},
    {"else", Keyword::kElse, k7, k2020, Subschemas::kValue},
};

constexpr std::string_view kAnnotations[] = {
    "title",      "description",     "default",          "examples",
    "$comment",   "$vocabulary",     "readOnly",         "writeOnly",
    "deprecated", "contentEncoding", "contentMediaType", "contentSchema",
};

constexpr std::size_t kRowCount = std::size(kKeywords);
static_assert(kRowCount == static_cast<std::size_t>(Keyword::kAnnotation));

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRowCount; ++i) {
    if (static_cast<std::size_t>(kKeywords[i].keyword) != i) return false;
  }
  return true;
}
static_assert(in_order());

constexpr std::size_t kSlots = 256;

// Mixes the length with the first, the middle and the last character: this
// keeps the chains of linear probing short.
constexpr std::size_t hash(std::string_view name) {
  const auto at = [name](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(name[i]));
  };
  return (name.size() * 7 + at(0) * 31 + at(name.size() / 2) * 11 +
          at(name.size() - 1) * 3) %
         kSlots;
}

struct Slot {
  std::string_view name;
  Keyword keyword = Keyword::kUnknown;
};

constexpr std::array<Slot, kSlots> make_slots() {
  std::array<Slot, kSlots> slots = {};
  const auto insert = [&slots](std::string_view name, Keyword keyword) {
    std::size_t i = hash(name);
    while (!slots[i].name.empty()) i = (i + 1) % kSlots;
    slots[i] = {name, keyword};
  };
  for (const KeywordInfo& row : kKeywords) insert(row.name, row.keyword);
  for (std::string_view name : kAnnotations) {
    insert(name, Keyword::kAnnotation);
  }
  return slots;
}

constexpr std::array<Slot, kSlots> kTable = make_slots();

}  // namespace

const KeywordInfo& info(Keyword keyword) {
  return kKeywords[static_cast<std::size_t>(keyword)];
}

Keyword find_keyword(std::string_view name) {
  if (name.empty()) return Keyword::kUnknown;
  for (std::size_t i = hash(name); !kTable[i].name.empty();
       i = (i + 1) % kSlots) {
    if (kTable[i].name == name) return kTable[i].keyword;
  }
  return Keyword::kUnknown;
}

}  // namespace parlance::schema
