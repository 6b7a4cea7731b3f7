#ifndef PARLANCE_CAPTURES_H_
#define PARLANCE_CAPTURES_H_

// The parts of a text, or of a prefix of a text, that match the rules of a
// grammar with the option "capture".
//
//   Result<Grammar> grammar = Grammar::from_lark(R"(
//     start: "<" name ">" TEXT
//     name[capture]: /[a-z]+/
//     TEXT: /.*/)");
//   Result<std::vector<RuleCapture>> found = captures(*grammar, "<bob> hi");
//   // {name: "name", text: "bob", bytes 1..4}
//
// Every call parses the text from its beginning, with Earley's algorithm.
// Complexity and memory: O(text) for most grammars, and bounded by `max_items`.
// Matcher::captures() reads only what is new of a text that is being generated.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/grammar.h"

namespace parlance {

struct RuleCapture {
  std::string name;
  Span bytes;        // in the text, without the suffix or stop of the rule
  std::string text;  // these bytes without the "stop" texts of inner rules
};

// A token of a text.  A special token matches by its id alone.
struct CapturedToken {
  std::uint32_t id = 0;
  std::string_view bytes = {};
  bool special = false;
};

// Limit of Earley items.  An item takes about 80 bytes, and most texts need a
// few items for each byte.
inline constexpr std::size_t kMaxCaptureItems = 2'000'000;

// Cancels a call that takes too long.
struct Interrupt {
  // Called from time to time while the text is read.  If it returns true, the
  // call fails with kTooLarge.  Default: null, the text is read to its end.
  bool (*cancelled)(void*) = nullptr;
  void* argument = nullptr;
};

// The captures, in the order of their ends, inner before outer.
//
// If the text may end here, the captures are those of one parse, the leftmost
// longest: of two parses of a rule it is the one whose part is longer where
// they first differ.  The parts of a rule are the rules that it uses, its
// texts, and runs of one character class.  Among parses without such a
// difference the choice is fixed.
//
// If the text must continue, the captures are those of all open parses; of
// captures with the same name and the same begin, only the longest.
//
// Token budgets (max_tokens) count only in a text of tokens.  A grammar from a
// JSON Schema has no captures.
//
// Errors: kInvalidContent with the first byte that does not match; kTooLarge.
Result<std::vector<RuleCapture>> captures(
    const Grammar& grammar, std::string_view text,
    std::size_t max_items = kMaxCaptureItems, const Interrupt& interrupt = {});
Result<std::vector<RuleCapture>> captures(
    const Grammar& grammar, std::span<const CapturedToken> tokens,
    std::size_t max_items = kMaxCaptureItems, const Interrupt& interrupt = {});

}  // namespace parlance

#endif  // PARLANCE_CAPTURES_H_
