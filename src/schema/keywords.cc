// The table of keywords, and a perfect-enough hash into it made at compile
// time.

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
// read in every draft: nothing else is meant by them.
// ORDER: Keyword
constexpr KeywordInfo kKeywords[] = {
    {"id", Keyword::kIdOld, k4, k4, Holds::kNothing},
    {"$id", Keyword::kId, k6, k2020, Holds::kNothing},
    {"$schema", Keyword::kSchema, k4, k2020, Holds::kNothing},
    {"$anchor", Keyword::kAnchor, k2019, k2020, Holds::kNothing},
    {"$dynamicAnchor", Keyword::kDynamicAnchor, k2020, k2020, Holds::kNothing},
    {"$recursiveAnchor", Keyword::kRecursiveAnchor, k2019, k2019,
     Holds::kNothing},
    {"$defs", Keyword::kDefs, k4, k2020, Holds::kMap},
    {"definitions", Keyword::kDefinitions, k4, k2020, Holds::kMap},
    {"$ref", Keyword::kRef, k4, k2020, Holds::kNothing},
    {"$dynamicRef", Keyword::kDynamicRef, k2020, k2020, Holds::kNothing},
    {"$recursiveRef", Keyword::kRecursiveRef, k2019, k2019, Holds::kNothing},
    {"type", Keyword::kType, k4, k2020, Holds::kNothing},
    {"enum", Keyword::kEnum, k4, k2020, Holds::kNothing},
    {"const", Keyword::kConst, k6, k2020, Holds::kNothing},
    {"multipleOf", Keyword::kMultipleOf, k4, k2020, Holds::kNothing},
    {"maximum", Keyword::kMaximum, k4, k2020, Holds::kNothing},
    {"exclusiveMaximum", Keyword::kExclusiveMaximum, k4, k2020,
     Holds::kNothing},
    {"minimum", Keyword::kMinimum, k4, k2020, Holds::kNothing},
    {"exclusiveMinimum", Keyword::kExclusiveMinimum, k4, k2020,
     Holds::kNothing},
    {"maxLength", Keyword::kMaxLength, k4, k2020, Holds::kNothing},
    {"minLength", Keyword::kMinLength, k4, k2020, Holds::kNothing},
    {"pattern", Keyword::kPattern, k4, k2020, Holds::kNothing},
    {"format", Keyword::kFormat, k4, k2020, Holds::kNothing},
    {"prefixItems", Keyword::kPrefixItems, k2020, k2020, Holds::kList},
    {"items", Keyword::kItems, k4, k2020, Holds::kOneOrList},
    {"additionalItems", Keyword::kAdditionalItems, k4, k2020, Holds::kOne},
    {"contains", Keyword::kContains, k6, k2020, Holds::kOne},
    {"minContains", Keyword::kMinContains, k2019, k2020, Holds::kNothing},
    {"maxContains", Keyword::kMaxContains, k2019, k2020, Holds::kNothing},
    {"maxItems", Keyword::kMaxItems, k4, k2020, Holds::kNothing},
    {"minItems", Keyword::kMinItems, k4, k2020, Holds::kNothing},
    {"uniqueItems", Keyword::kUniqueItems, k4, k2020, Holds::kNothing},
    {"unevaluatedItems", Keyword::kUnevaluatedItems, k2019, k2020, Holds::kOne},
    {"properties", Keyword::kProperties, k4, k2020, Holds::kMap},
    {"patternProperties", Keyword::kPatternProperties, k4, k2020, Holds::kMap},
    {"additionalProperties", Keyword::kAdditionalProperties, k4, k2020,
     Holds::kOne},
    {"propertyNames", Keyword::kPropertyNames, k6, k2020, Holds::kOne},
    {"required", Keyword::kRequired, k4, k2020, Holds::kNothing},
    {"maxProperties", Keyword::kMaxProperties, k4, k2020, Holds::kNothing},
    {"minProperties", Keyword::kMinProperties, k4, k2020, Holds::kNothing},
    {"dependencies", Keyword::kDependencies, k4, k2020, Holds::kMap},
    {"dependentRequired", Keyword::kDependentRequired, k2019, k2020,
     Holds::kNothing},
    {"dependentSchemas", Keyword::kDependentSchemas, k2019, k2020, Holds::kMap},
    {"unevaluatedProperties", Keyword::kUnevaluatedProperties, k2019, k2020,
     Holds::kOne},
    {"allOf", Keyword::kAllOf, k4, k2020, Holds::kList},
    {"anyOf", Keyword::kAnyOf, k4, k2020, Holds::kList},
    {"oneOf", Keyword::kOneOf, k4, k2020, Holds::kList},
    {"not", Keyword::kNot, k4, k2020, Holds::kOne},
    {"if", Keyword::kIf, k7, k2020, Holds::kOne},
    {"then", Keyword::kThen, k7, k2020, Holds::kOne},
    {"else", Keyword::kElse, k7, k2020, Holds::kOne},
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

// Length, two characters that differ most, and the last.
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
