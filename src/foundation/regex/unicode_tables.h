#ifndef PARLANCE_SRC_REGEX_UNICODE_TABLES_H_
#define PARLANCE_SRC_REGEX_UNICODE_TABLES_H_

// The generated tables of unicode_properties.h.  Read them through that header.

#include <cstddef>
#include <cstdint>

#include "regex/char_class.h"

namespace parlance::regex::tables {

// From `first` to the next run's `first`, every code point has `value`.
struct Run {
  char32_t first;
  std::uint8_t value;
};

struct Slice {
  std::uint32_t begin;
  std::uint32_t size;
};

// IGNORECASE makes `a` and `b` equal.  Every pair stands in both directions;
// sorted by `a`.
struct CasePair {
  char32_t a;
  char32_t b;
};

// Names are upper case without '-', '_' and spaces; sorted.
struct NamedValue {
  const char* name;
  std::uint32_t value;
};

// General category of every code point.  ORDER: CATEGORIES in the generator.
inline constexpr std::size_t kCategoryCount = 30;
inline constexpr const char* kCategoryCodes[kCategoryCount] = {
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
    "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
    "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"};
inline constexpr std::size_t kUppercaseLetter = 0;
inline constexpr std::size_t kTitlecaseLetter = 2;
inline constexpr std::size_t kSurrogate = 27;
inline constexpr std::size_t kUnassigned = 29;

extern const Run kCategoryRuns[];
extern const std::size_t kCategoryRunsSize;
extern const Run kScriptRuns[];
extern const std::size_t kScriptRunsSize;
extern const CharRange kBlocks[];
extern const std::size_t kBlocksSize;

// Binary property i has kBinaryRanges[kBinaryProperties[i]].
extern const CharRange kBinaryRanges[];
extern const std::size_t kBinaryRangesSize;
extern const Slice kBinaryProperties[];
extern const std::size_t kBinaryPropertiesSize;

extern const CasePair kCasePairs[];
extern const std::size_t kCasePairsSize;

// Characters assigned since Unicode 14, which the tables of a PCRE2 may lack.
extern const CharRange kNewer[];
extern const std::size_t kNewerSize;

extern const NamedValue kCategoryNames[];  // value: a mask of categories
extern const std::size_t kCategoryNamesSize;
extern const NamedValue kScriptNames[];  // value: as in kScriptRuns
extern const std::size_t kScriptNamesSize;
extern const NamedValue kBlockNames[];  // value: index into kBlocks
extern const std::size_t kBlockNamesSize;
extern const NamedValue kBinaryNames[];  // value: into kBinaryProperties
extern const std::size_t kBinaryNamesSize;

// Properties that exist and that we have no table for.
extern const char* const kRefusedProperties[];
extern const std::size_t kRefusedPropertiesSize;

}  // namespace parlance::regex::tables

#endif  // PARLANCE_SRC_REGEX_UNICODE_TABLES_H_
