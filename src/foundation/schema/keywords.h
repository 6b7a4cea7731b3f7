#ifndef PARLANCE_SRC_SCHEMA_KEYWORDS_H_
#define PARLANCE_SRC_SCHEMA_KEYWORDS_H_

// The keywords of JSON Schema, drafts 4 to 2020-12: which drafts have them, and
// which parts of their values are schemas.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "schema/document.h"

namespace parlance::schema {

// ORDER: Keyword
enum class Keyword : std::uint8_t {
  // Identifiers, definitions and references.
  kIdOld,  // "id"
  kId,     // "$id"
  kSchema,
  kAnchor,
  kDynamicAnchor,
  kRecursiveAnchor,
  kDefs,
  kDefinitions,
  kRef,
  kDynamicRef,
  kRecursiveRef,
  // Any value.
  kType,
  kEnum,
  kConst,
  // Numbers.
  kMultipleOf,
  kMaximum,
  kExclusiveMaximum,
  kMinimum,
  kExclusiveMinimum,
  // Strings.
  kMaxLength,
  kMinLength,
  kPattern,
  kFormat,
  // Arrays.
  kPrefixItems,
  kItems,
  kAdditionalItems,
  kContains,
  kMinContains,
  kMaxContains,
  kMaxItems,
  kMinItems,
  kUniqueItems,
  kUnevaluatedItems,
  // Objects.
  kProperties,
  kPatternProperties,
  kAdditionalProperties,
  kPropertyNames,
  kRequired,
  kMaxProperties,
  kMinProperties,
  kDependencies,
  kDependentRequired,
  kDependentSchemas,
  kUnevaluatedProperties,
  // In-place applicators: schemas that apply to the same value.
  kAllOf,
  kAnyOf,
  kOneOf,
  kNot,
  kIf,
  kThen,
  kElse,
  // No effect.
  kAnnotation,
  kUnknown,
};
inline constexpr std::size_t kKeywordCount =
    static_cast<std::size_t>(Keyword::kUnknown);
static_assert(kKeywordCount <= 64);  // sets of keywords are one word

// Which parts of a keyword's value are schemas.
enum class Subschemas : std::uint8_t {
  kNone,
  kValue,         // the value itself
  kItems,         // the items of an array
  kMembers,       // the values of an object's members
  kValueOrItems,  // the items of an array, or another value itself
};

struct KeywordInfo {
  std::string_view name;
  Keyword keyword;
  Draft since;
  Draft until;
  Subschemas subschemas;
};

// REQUIRES: `keyword` is neither kAnnotation nor kUnknown.
const KeywordInfo& info(Keyword keyword);

// kAnnotation for keywords without effect on validity, such as "title";
// kUnknown for names that are in no draft.
Keyword find_keyword(std::string_view name);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_KEYWORDS_H_
