#ifndef PARLANCE_SRC_REGEX_UNICODE_PROPERTIES_H_
#define PARLANCE_SRC_REGEX_UNICODE_PROPERTIES_H_

// Unicode properties of characters, as the `regex` module defines them.
// (Properties of a pattern's matches are in hir_properties.h.)

#include <cstddef>
#include <string_view>

#include "regex/char_class.h"
#include "regex/pattern.h"

namespace parlance::regex {

// Whether \w of the `regex` module matches `c`: letters and other
// Alphabetic characters, marks, decimal digits, connector punctuation, the two
// joiners.  A table look-up for ASCII, O(log n) beyond.
bool is_word(char32_t c);

// Built at first use and shared.  kWord: \w of the `regex` module.
enum class Property : unsigned char {
  kWord,
  kSpace,  // White_Space
  kDigit,  // Nd
  kAlphabetic,
};
const CharClass& property_class(Property property);

// The set that \w denotes.  The `regex` module: is_word().  `re`: letters,
// numbers and "_".  ECMA: the ASCII letters, digits and "_".
const CharClass& word_class(Flavor flavor);

// Characters of the general categories in `mask`, bit i for the i-th of
// tables::kCategoryCodes.
CharClass category_class(unsigned mask);

// The set that \p{name} or \p{property=name} denotes (Unicode TR18, RL1.2).
struct PropertyAnswer {
  enum class Kind : unsigned char {
    kFound,
    kUnknownProperty,
    kUnknownValue,
    kRefused,  // exists in Unicode, and we carry no table for it
  };
  Kind kind = Kind::kUnknownProperty;
  CharClass char_class = {};
  // The class that replaces a case-sensitive property under IGNORECASE: the
  // union of Lu, Ll and Lt for each of them, Cased for Uppercase and Lowercase.
  // Empty for other properties.
  CharClass ignoring_case = {};
};

// Case, '-', '_' and spaces do not matter.  `property` is empty when only a
// name was given: a category, a script, a block ("InGreek"), or a binary
// property.  `posix`: the name stands in [:name:].
PropertyAnswer find_property(std::string_view property, std::string_view name,
                             bool posix = false);

// `set`, and every character that IGNORECASE makes equal to one in it.
CharClass fold_case(const CharClass& set);

// Characters that PCRE2 may not know (assigned since Unicode 14).
const CharClass& newer_characters();

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_UNICODE_PROPERTIES_H_
