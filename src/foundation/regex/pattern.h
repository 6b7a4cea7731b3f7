#ifndef PARLANCE_SRC_REGEX_PATTERN_H_
#define PARLANCE_SRC_REGEX_PATTERN_H_

// From the text of a pattern to its meaning: text -> Ast -> Hir.
//
//   Result<Pattern> p = parse_pattern(R"(<tool name=(?P<name>\w+)>)");
//
// This is the only reader of patterns in the library; parsing and constraining
// both start from its Hir, so they cannot disagree about a pattern.

#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/limits.h"
#include "regex/hir.h"

namespace parlance::regex {

// The dialect that defines \w, \d, \s and a few spellings.
enum class Flavor : std::uint8_t {
  kRegexModule,  // PyPI `regex`, version 0: response templates
  kPythonRe,     // the standard library's `re`: response schemas
  kEcma,         // JSON Schema's "pattern" (ECMA-262, u flag)
};

struct PatternOptions {
  Flavor flavor = Flavor::kRegexModule;
  // Flags set from outside, as in re.compile(p, re.DOTALL).
  bool dot_all = false;
  bool multi_line = false;
  bool ignore_case = false;
  bool verbose = false;
  Limits limits = {};
};

struct Pattern {
  std::string source;
  Hir hir;
  Flavor flavor = Flavor::kRegexModule;
};

// Errors: kBadPattern, kUnsupportedPattern, kTooLarge, with the span in bytes
// of `text` and a message that names the mistake and its correction.
Result<Pattern> parse_pattern(std::string_view text,
                              const PatternOptions& options = {});

}  // namespace parlance::regex

#endif  // PARLANCE_SRC_REGEX_PATTERN_H_
