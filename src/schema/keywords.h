#ifndef PARLANCE_SRC_SCHEMA_KEYWORDS_H_
#define PARLANCE_SRC_SCHEMA_KEYWORDS_H_

// The keywords of JSON Schema, drafts 4 to 2020-12: which drafts have them, and
// where schemas stand inside their values.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "schema/document.h"

namespace parlance::schema {

// ORDER: Keyword
enum class Keyword : std::uint8_t {
  // What a schema is and what it refers to.
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
  // Other schemas in the same place.
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

// Where schemas stand in a keyword's value.
enum class Holds : std::uint8_t {
  kNothing,
  kOne,        // it is one
  kList,       // its items
  kMap,        // its members' values
  kOneOrList,  // items
};

struct KeywordInfo {
  std::string_view name;
  Keyword keyword;
  Draft since;
  Draft until;
  Holds holds;
};

// By Keyword, kAnnotation and kUnknown excepted.
const KeywordInfo& info(Keyword keyword);

// kAnnotation for titles, contents and the like; kUnknown for anything else
// that is in no draft.
Keyword find_keyword(std::string_view name);

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_KEYWORDS_H_
