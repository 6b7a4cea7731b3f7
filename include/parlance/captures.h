#ifndef PARLANCE_CAPTURES_H_
#define PARLANCE_CAPTURES_H_

// What the rules with a "capture" of a grammar read, in a text or in the
// beginning of one.
//
//   Result<Grammar> grammar = Grammar::from_lark(R"(
//     start: "<" name ">" TEXT
//     name[capture]: /[a-z]+/
//     TEXT: /.*/)");
//   Result<std::vector<RuleCapture>> found = captures(*grammar, "<bob> hi");
//   // {name: "name", text: "bob", bytes 1..4}
//
// The text is read again for every call, by a recogniser that keeps how it came
// to each place: time and memory are O(text) for most grammars and bounded by
// `max_items`.  Nothing has to be kept while a text is written, so whatever a
// matcher undid is simply not in the text.

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
  Span bytes;        // of the text; the marker of its own rule left out
  std::string text;  // the same without the markers inside that are a "stop"
};

// A token as it was accepted.  A special token is read by its id alone.
struct CapturedToken {
  std::uint32_t id = 0;
  std::string_view bytes = {};
  bool special = false;
};

// Items of the recogniser: about 50 bytes each, a few for each byte of text.
inline constexpr std::size_t kMaxCaptureItems = 2'000'000;

// Ends a reading that takes too long.
struct Interrupt {
  // Called now and then while the text is read.  When it says true, the reading
  // ends with kTooLarge.  Null: it is read to its end.
  bool (*cancelled)(void*) = nullptr;
  void* argument = nullptr;
};

// In the order of their ends, inner ones first.  Of a text that can end here
// one way to read it is told, the leftmost longest: of two ways through a rule
// that is the one with the longer part where they first differ; parts are the
// rules that it calls, its texts, and runs of one class.  Of ways that do not
// differ so it is always the same.  Of a text that must go on all ways are told
// that are open, and of what is captured under one name from one place on the
// longest.  Budgets of tokens count only in a text of tokens.
//
// Errors: kInvalidContent with the first byte that does not fit; kTooLarge.
Result<std::vector<RuleCapture>> captures(
    const Grammar& grammar, std::string_view text,
    std::size_t max_items = kMaxCaptureItems, const Interrupt& interrupt = {});
Result<std::vector<RuleCapture>> captures(
    const Grammar& grammar, std::span<const CapturedToken> tokens,
    std::size_t max_items = kMaxCaptureItems, const Interrupt& interrupt = {});

}  // namespace parlance

#endif  // PARLANCE_CAPTURES_H_
