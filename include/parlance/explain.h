#ifndef PARLANCE_EXPLAIN_H_
#define PARLANCE_EXPLAIN_H_

// Which bytes of a response went where, and why: for people who look at one
// response.
//
//   Result<Format> format = Format::built_in("qwen3");
//   Explanation e = explain(*format, "<think>Hm.</think>Yes.");
//   for (const ExplanationRow& row : e.rows) {
//     std::cout << row.bytes.begin << " " << row.what << "\n";
//   }                               // 0 opens thinking
//                                   // 7 text of thinking
//                                   // 10 closes thinking
//                                   // 18 text of content
//   std::string page = to_html(e);  // one file, which loads nothing
//
// Law.  Rows that own bytes (owns_bytes()) partition Explanation::text: they
// are in order, none overlaps another, and together they have every byte.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/constraint.h"
#include "parlance/error.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/hints.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "parlance/response_parser.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"

namespace parlance {

// ORDER: ExplanationKind
enum class ExplanationKind : std::uint8_t {
  // By a format, and by a structural tag in chunks: the events.
  kOpen,       // the delimiter that opens a region
  kText,       // text of a region
  kClose,      // the delimiter that closes a region
  kUnclaimed,  // text that belongs to no field
  kLayout,     // white space that belongs to no value
  kOutside,    // delimiters between regions, and what ends the turn
  // By a structural tag: its formats.
  kFormat,   // text of a format, or the begin of a tag
  kEnd,      // the end of a tag
  kBetween,  // the text between the items of a list
  // By a grammar, and by a structural tag.
  kFits,  // the part that the grammar accepts
  kRest,  // the part that it does not accept
  // Remarks, which own no bytes.
  kCut,        // the response ends inside a region
  kMalformed,  // a region cannot be read
  kProblem,    // what is wrong with the rows before
  kExpected,   // what would have been accepted after the rows before
  kHeld,       // what was held back at that point
  kHint,       // what was probably meant (parlance/hints.h)
};

// "open", "text", ...
std::string_view to_string(ExplanationKind kind);
// False for remarks.
bool owns_bytes(ExplanationKind kind);

struct ExplanationRow {
  ExplanationKind kind = ExplanationKind::kOutside;

  // In Explanation::text.  Of a remark: the text that it is about, empty if
  // there is none.
  Span bytes;
  // The tokens that contain `bytes`, as in Event::tokens.
  Span tokens;

  // In words: "opens thinking", "triggered_tags /elements/1: free text".  Texts
  // of the response inside are not escaped.
  std::string what;

  // The field of the region, and its index; "" if there is none.
  std::string field;
  std::uint32_t field_index = 0;

  // kOpen: the named groups of the opening delimiter.
  std::vector<std::pair<std::string, std::string>> captures;

  // kFormat, kEnd, kBetween: the type of the format, the JSON Pointer of the
  // format in the tag, how deep it is inside others, the alternative of an
  // enclosing `or`, and whether the format was read to its end.
  std::string type;
  std::string path;
  std::uint32_t depth = 0;
  std::optional<std::uint32_t> alternative;
  bool finished = true;

  // kMalformed, kProblem, kExpected: why; and the byte of Explanation::text at
  // which a region cannot be read, if it is known.
  std::optional<ErrorCode> code;
  std::string message;  // and kHint
  std::optional<std::size_t> at;

  // kHint: as in Hint.
  std::optional<HintKind> hint;
  std::string format;

  // kHeld: how many bytes or tokens of the response had been fed.
  std::size_t fed = 0;
};

// What a response was read by.
enum class ExplainedBy : std::uint8_t { kFormat, kStructuralTag, kGrammar };
// "format", "structural_tag", "grammar".
std::string_view to_string(ExplainedBy by);

struct Explanation {
  ExplainedBy by = ExplainedBy::kFormat;
  std::string name;  // ExplainOptions::name

  // What was read: the end of the prefix, then the response.
  std::string text;
  std::size_t prefix_bytes = 0;

  std::vector<ExplanationRow> rows;
  std::vector<std::string> fields;  // by ExplanationRow::field_index

  // The tokens of the response: where each ends in `text`, and its kind.  Empty
  // if text was read.
  std::vector<TokenId> ids;
  std::vector<std::size_t> token_ends;
  std::vector<TokenKind> token_kinds;

  // With a constraint: for each token of the response, how many tokens were
  // allowed in its place.  If a token was not allowed, its entry is the last,
  // and its index is `rejected`.
  std::vector<std::uint32_t> allowed;
  std::optional<std::size_t> rejected;

  // With Message::attempts.  Without a value if no message was read
  // (ExplainedBy::kGrammar).
  std::optional<Message> message;
  // Why a strict reading failed.
  std::optional<Error> failure;
  // kGrammar: whether the whole text is accepted.
  bool accepted = false;
};

struct ExplainOptions {
  // As in StreamOptions.
  std::string_view prefix = {};
  const ToolSet* tools = nullptr;
  Markers markers = Markers::kToken;
  Recover recover = Recover::kDefault;

  // The vocabulary of token ids.
  const Vocabulary* vocabulary = nullptr;

  // The number of bytes or tokens to feed at a time.  After each such chunk a
  // row (kHeld) shows the bytes that are held back.  0: all at once.
  std::size_t chunk = 0;

  // With token ids: what the model was constrained by.  May be null.
  const Constraint* constraint = nullptr;

  // Add rows for what was probably meant (kHint), by hints_of(), if a format
  // reads the response.
  bool hints = true;

  // Of the format, tag or grammar, for people.
  std::string_view name = {};

  // Cancels a call that takes too long, as some grammars do.  Text after that
  // point is not read; its rows are ExplanationKind::kOutside, or kRest.
  Interrupt interrupt = {};
};

// Explains how a format or a structural tag reads a response.
// Complexity: that of the parser; with a constraint, a mask for each token.
//
// REQUIRES: the functions of token ids have a vocabulary, and the others have
// none.  Otherwise the explanation is empty.
Explanation explain(const Format& format, std::string_view response,
                    const ExplainOptions& options = {});
Explanation explain(const Format& format, std::span<const TokenId> response,
                    const ExplainOptions& options);
Explanation explain(const CompiledTag& tag, std::string_view response,
                    const ExplainOptions& options = {});
Explanation explain(const CompiledTag& tag, std::span<const TokenId> response,
                    const ExplainOptions& options);

// How much of a text a grammar accepts.  Of `options`, `name` and `interrupt`
// are used.
Explanation explain(const Grammar& grammar, std::string_view text,
                    const ExplainOptions& options = {});
// The same for token ids of the constraint's vocabulary.
Explanation explain(const Constraint& constraint,
                    std::span<const TokenId> response,
                    const ExplainOptions& options = {});

// The facts as JSON; docs/guide/explain.md has the shape.
json::Value to_json(const Explanation& explanation);

struct PageOptions {
  // The title of the page.  Default: made of the name.
  std::string_view title = {};
  // How much of the text, and of the message, the page has: for notebooks,
  // which keep every page that they have shown.  A page of part of a text says
  // so; it has the first hundred remarks and dropped calls, and no tokens.  0:
  // all.
  std::size_t max_bytes = 0;
};

// The facts as the page has them, JSON text: those of to_json() without their
// repetitions.  The text is there once, as "text" or as "hex", rows are pairs
// of numbers with their "shapes", and the message is text, "message_text".  The
// modules of the viewer read both.
std::string to_packed_json(const Explanation& explanation,
                           const PageOptions& options = {});

// A page for a browser: one HTML document, with its style sheet, its script and
// the facts inside.  It loads nothing, and its security policy forbids that and
// any other script.  Text of the response is data for the script; the page
// shows it as text only, with bytes that are not UTF-8, control characters and
// marks of direction made visible.  The text is in the page once, and once more
// in the message: with a row for every ten bytes, the page is about three times
// as long as the response.
std::string to_html(const Explanation& explanation,
                    const PageOptions& options = {});

}  // namespace parlance

#endif  // PARLANCE_EXPLAIN_H_
